// Complex matrices: factorizations, solves, readers and checks compared with plain loops in long double.
#include <fairlead/error.hpp>
#include <fairlead/inverse_norm.hpp>
#include <fairlead/parameterized_linalg.hpp>
#include <fairlead/pivoted_lu.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/complex_world.hpp"
#include "algorithms/linalg/general_reader.hpp"
#include "algorithms/linalg/norm_by_elimination.hpp"
#include "algorithms/linalg/source_matrix.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "algorithms/linalg/symmetric_reader.hpp"
#include "algorithms/linalg/symmetric_source.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"
#include "data/matrix/memory_matrix.hpp"

namespace fairlead::linalg::testing::complex_numbers {
namespace {

using ::testing::HasSubstr;
template <class T>
std::shared_ptr<const data::StoredMatrix> stored(const Dense<T>& a, bool by_rows) {
  const auto& at = by_rows ? transposed_of(a) : a;
  const auto kept = std::make_shared<const Dense<T>>(at);
  data::ArrayLayout layout{
      .element = element_type_of<T>,
      .order = by_rows ? StorageOrder::c : StorageOrder::fortran,
      .shape = {static_cast<std::uint64_t>(a.rows), static_cast<std::uint64_t>(a.columns)}};
  return std::make_shared<const data::MemoryMatrix>("A", layout,
                                                    reinterpret_cast<const std::byte*>(kept->elements.data()),
                                                    static_cast<std::uint64_t>(at.rows), kept);
}

template <class T>
class ComplexNumbers : public ::testing::Test {};
TYPED_TEST_SUITE(ComplexNumbers, ComplexTypes);

TYPED_TEST(ComplexNumbers, CholeskyFactorsAHermitianMatrix) {
  using T = TypeParam;
  for (const auto& [n, tile, memory] :
       {std::tuple(1, 4, plenty), {50, 16, plenty}, {150, 150, plenty}, {130, 16, Bytes{1} << 19}}) {
    const auto a = definite_matrix<T>(n, 5);
    const auto l = factor<T>(std::make_shared<GivenMatrix<T>>(a), tile, {.memory = memory});
    const auto lower = [&](std::int64_t i, std::int64_t k) { return i >= k ? wide(l(i, k)) : Wide(0); };
    const auto upper = [&](std::int64_t k, std::int64_t j) { return std::conj(lower(j, k)); };
    EXPECT_LT(product_error(a, lower, upper), 2) << n;
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(l(i, i).imag(), 0);
  }
}

TYPED_TEST(ComplexNumbers, TheDiagonalCountsAsReal) {
  using T = TypeParam;
  auto a = definite_matrix<T>(40, 5);
  const auto l = factor<T>(std::make_shared<GivenMatrix<T>>(a), 16, {});
  for (std::int64_t i = 0; i < 40; ++i) a(i, i) += T(0, 3);
  EXPECT_TRUE(factor<T>(std::make_shared<GivenMatrix<T>>(a), 16, {}) == l);
}

TYPED_TEST(ComplexNumbers, AnIndefiniteMatrixIsNamed) {
  using T = TypeParam;
  auto a = definite_matrix<T>(40, 5);
  a(21, 21) = -1;
  try {
    factor<T>(std::make_shared<GivenMatrix<T>>(a), 16, {});
    FAIL();
  } catch (const NumericalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the factorization fails in column 21"));
  }
}

TYPED_TEST(ComplexNumbers, LuFactorsWithAndWithoutPivots) {
  using T = TypeParam;
  for (const auto& [n, tile] : {std::pair(1, 4), {50, 16}, {150, 150}, {97, 24}}) {
    auto a = random_matrix<T>(n, n, 5);
    for (std::int64_t i = 0; i < n; ++i) a(i, i) += T(0, static_cast<typename T::value_type>(2 * n));
    const auto factors = lu_factors<T>(std::make_shared<GivenMatrix<T>>(a), tile, {});
    const auto lower = [&](std::int64_t i, std::int64_t k) {
      return i > k ? wide(factors(i, k)) : Wide(i == k ? 1 : 0);
    };
    const auto upper = [&](std::int64_t k, std::int64_t j) { return k <= j ? wide(factors(k, j)) : Wide(0); };
    EXPECT_LT(product_error(a, lower, upper), 2) << n;
  }
}

/// Solutions of all solves with the factors of `a`.
template <class T>
void expect_solutions(const Dense<T>& a, std::int32_t tile, std::int64_t sides, bool definite) {
  Runtime runtime(config_of({}));
  Flow flow(runtime);
  const auto tiles = runtime.tiled<T>("A", a.rows, a.rows, tile);
  const auto b = random_matrix<T>(a.rows, sides, 77);
  const auto element = [&](std::int64_t i, std::int64_t j) { return wide(a(i, j)); };
  const auto of_adjoint = [&](std::int64_t i, std::int64_t j) { return std::conj(wide(a(j, i))); };
  const auto solved = [&](const auto& solve) {
    auto x = b;
    {
      const auto columns = runtime.tiled_in_place<T>("x", x.elements.data(), a.rows, sides, a.rows, tile);
      solve(columns);
      wait_for_results(flow);
    }
    return x;
  };
  const auto refill = [&] { fill<T>(flow, std::make_shared<GivenMatrix<T>>(a), tiles, Tiles::all); };
  refill();
  const RowPivots<T> p(runtime, tiles);
  factor_lu_pivoted(flow, kernels(), tiles, p);
  EXPECT_LT(residual_of(solved([&](auto& x) { solve_lu_pivoted_factored(flow, kernels(), tiles, p, x); }), b,
                        element),
            30);
  EXPECT_LT(residual_of(solved([&](auto& x) { solve_lu_pivoted_transposed(flow, kernels(), tiles, p, x); }),
                        b, of_adjoint),
            30);
  if (!definite) return;
  refill();
  lu(flow, kernels(), tiles);
  EXPECT_LT(residual_of(solved([&](auto& x) { solve_lu_factored(flow, kernels(), tiles, x); }), b, element),
            5);
  EXPECT_LT(
      residual_of(solved([&](auto& x) { solve_lu_transposed(flow, kernels(), tiles, x); }), b, of_adjoint),
      5);
  refill();
  cholesky(flow, kernels(), tiles);
  const auto by_flow = solved([&](auto& x) { solve_factored(flow, kernels(), tiles, x); });
  EXPECT_LT(residual_of(by_flow, b, element), 5);
  EXPECT_TRUE(solved([&](auto& x) {
                ptg::Graph graph(runtime);
                solve_factored(graph, kernels(), tiles, x);
                run_for_results(graph);
              }) == by_flow);
}

TYPED_TEST(ComplexNumbers, SolvesUseTheFactorsAndTheirAdjoints) {
  using T = TypeParam;
  std::size_t turn = 0;
  for (const auto& [n, tile] : {std::pair(1, 4), {2, 2}, {50, 16}, {97, 24}})
    for (const std::int64_t sides : {1, 5, 30}) {
      if (tests::left_out(turn++, 5)) continue;
      expect_solutions(random_matrix<T>(n, n, 9), tile, sides, false);
      expect_solutions(definite_matrix<T>(n, 9), tile, sides, true);
    }
}

TYPED_TEST(ComplexNumbers, PanelsSolveAsOneCallOfTheLibrary) {
  using T = TypeParam;
  for (const TriangularSolve& solve : {below_cholesky<T>, below_lu, right_of_lu})
    for (const auto& [m, n] : {std::pair(7, 95), {200, 193}, {64, 300}}) {
      const int order = solve.side == Side::right ? n : m;
      auto t = definite_matrix<T>(order, 1);
      if (solve.diagonal == Diagonal::unit)
        for (T& element : t.elements) element /= static_cast<typename T::value_type>(order);
      const auto a = random_matrix<T>(m, n, 2);
      auto whole = a, panels = a;
      kernels().blas().trsm<T>(solve.side, solve.triangle, solve.op, solve.diagonal, m, n, 1,
                               t.elements.data(), order, whole.elements.data(), m);
      panel_solve<T>(kernels().blas(), solve, m, n, t.elements.data(), order, panels.elements.data(), m);
      for (std::size_t i = 0; i < whole.elements.size(); ++i)
        ASSERT_LT(std::abs(panels.elements[i] - whole.elements[i]),
                  100 * std::numeric_limits<typename T::value_type>::epsilon());
    }
}

/// The lower triangle after reading, or the error.
template <class T>
std::string read_hermitian(const Dense<T>& a, Stored which, bool by_rows, Dense<T>* lower = nullptr) {
  Runtime runtime(config_of({}));
  SymmetricReader<T> reader(stored(a, by_rows), which);
  const auto tiles = runtime.tiled<T>("A", a.rows, a.columns, 8, Tiles::lower);
  Flow flow(runtime);
  reader.submit(flow, tiles, runtime.capacity_bytes());
  try {
    wait_for_results(flow);
    reader.require_symmetric();
  } catch (const NumericalError& error) {
    return error.what();
  }
  if (lower != nullptr) *lower = fetch(flow, tiles, Tiles::lower);
  return reader.asymmetry() == 0 ? "Hermitian" : "nearly Hermitian";
}

TYPED_TEST(ComplexNumbers, TheMirrorImageOfAnElementIsItsConjugate) {
  using T = TypeParam;
  using Part = typename T::value_type;
  const std::int64_t n = 45;
  const auto a = definite_matrix<T>(n, 3);
  for (const bool by_rows : {false, true}) {
    for (const Stored which : {Stored::both, Stored::lower, Stored::upper, Stored::mean}) {
      auto given = a;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < j; ++i) {
          if (which == Stored::lower) given(i, j) = T(99, 99);
          if (which == Stored::upper) given(j, i) = T(99, 99);
        }
      Dense<T> lower;
      ASSERT_EQ(read_hermitian(given, which, by_rows, &lower), "Hermitian");
      const auto again =
          dense<std::complex<double>>(SymmetricSource<std::complex<double>>(stored(given, by_rows), which));
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
          const T expected = i >= j ? a(i, j) : T(0);
          ASSERT_EQ(lower(i, j), expected) << i << ' ' << j;
          ASSERT_EQ(again(i, j), std::complex<double>(a(i, j))) << i << ' ' << j;
        }
    }
    auto symmetric = a;
    symmetric(3, 30) = a(30, 3);  // not conjugate
    EXPECT_THAT(read_hermitian(symmetric, Stored::both, by_rows),
                HasSubstr("A is not Hermitian: row 3, column 30"));
    auto imaginary = a;
    imaginary(17, 17) += T(0, Part(0.125));
    for (const Stored which : {Stored::both, Stored::lower, Stored::upper, Stored::mean})
      EXPECT_THAT(
          read_hermitian(imaginary, which, by_rows),
          HasSubstr(
              "the element on the diagonal in row 17 (counted from 0) is 90+0.125i, which is not real"));
    auto nearly = a;
    nearly(20, 20) += T(0, std::numeric_limits<Part>::epsilon());
    EXPECT_EQ(read_hermitian(nearly, Stored::both, by_rows), "nearly Hermitian");
    auto missing = a;
    missing(30, 3) = T(0, std::numeric_limits<Part>::quiet_NaN());
    EXPECT_THAT(read_hermitian(missing, Stored::both, by_rows),
                HasSubstr("row 30, column 3 (counted from 0) is not a number"));
  }
}

TYPED_TEST(ComplexNumbers, TheLargestElementIsThatOfAllTiles) {
  using T = TypeParam;
  auto a = random_matrix<T>(60, 40, 3);
  a(37, 22) = T(-3, 4);
  for (const bool by_rows : {false, true}) {
    Runtime runtime(config_of({}));
    GeneralReader<T> reader(stored(a, by_rows));
    const auto tiles = runtime.tiled<T>("A", 60, 40, 16);
    Flow flow(runtime);
    reader.submit(flow, tiles, runtime.capacity_bytes());
    wait_for_results(flow);
    EXPECT_EQ(reader.largest(), 5);
    EXPECT_TRUE(fetch(flow, tiles) == a);
  }
}

/// As BackwardError defines it.
template <class T>
double plain_backward_error(const Dense<T>& a, const Dense<T>& x, const Dense<T>& b) {
  long double norm = 0, worst = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    long double sum = 0;
    for (std::int64_t j = 0; j < a.columns; ++j) sum += std::abs(wide(a(i, j)));
    norm = std::max(norm, sum);
  }
  for (std::int64_t c = 0; c < x.columns; ++c) {
    long double residual = 0, of_x = 0, of_b = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      Wide left = wide(b(i, c));
      for (std::int64_t j = 0; j < a.columns; ++j) left -= wide(a(i, j)) * wide(x(j, c));
      residual = std::max(residual, std::abs(left));
      of_x = std::max(of_x, std::abs(wide(x(i, c))));
      of_b = std::max(of_b, std::abs(wide(b(i, c))));
    }
    worst = std::max(worst, residual / (norm * of_x + of_b));
  }
  return static_cast<double>(worst);
}

TYPED_TEST(ComplexNumbers, TheBackwardErrorIsThatOfPlainSums) {
  using T = TypeParam;
  using Part = typename T::value_type;
  std::size_t turn = 0;
  for (const std::int64_t n : {1, 7, 300})
    for (const std::int64_t sides : {1, 4, 5, 40})
      for (const bool hermitian : {false, true}) {
        if (tests::left_out(turn++, 5)) continue;
        const auto a = hermitian ? definite_matrix<T>(n, 2) : random_matrix<T>(n, n, 2);
        const auto x = random_matrix<T>(n, sides, 3);
        Dense<T> b{n, sides, std::vector<T>(x.elements.size())};
        for (std::int64_t c = 0; c < sides; ++c)
          for (std::int64_t i = 0; i < n; ++i) {
            Wide sum = static_cast<long double>(1e-5) * wide(x(i, c));
            for (std::int64_t j = 0; j < n; ++j) sum += wide(a(i, j)) * wide(x(j, c));
            b(i, c) = T(static_cast<Part>(sum.real()), static_cast<Part>(sum.imag()));
          }
        const double expected = plain_backward_error(a, x, b);
        for (const bool by_rows : {false, true}) {
          Runtime runtime(config_of({}));
          Flow flow(runtime);
          using Source = StoredSource<std::complex<double>>;
          std::vector<std::complex<double>> residual(x.elements.size());
          const Shape shape = hermitian ? Shape::symmetric : Shape::general;
          BackwardError<T> error(kernels(),
                                 std::make_shared<Source>(stored(a, by_rows), source_staging_bytes, shape),
                                 std::make_shared<Source>(stored(b, by_rows), source_staging_bytes),
                                 x.elements.data(), sides, residual.data());
          error.submit(flow);
          wait_for_results(flow);
          EXPECT_NEAR(error.value(), expected, 1e-9 * expected + 2e-16)
              << n << ' ' << sides << hermitian << by_rows;
          for (std::int64_t c = 0; c < sides; ++c)
            for (std::int64_t i = 0; i < n; ++i) {
              Wide left = wide(b(i, c));
              for (std::int64_t j = 0; j < n; ++j) left -= wide(a(i, j)) * wide(x(j, c));
              ASSERT_LT(std::abs(wide(residual[static_cast<std::size_t>(i + c * n)]) - left), 1e-12L);
            }
        }
      }
}

TYPED_TEST(ComplexNumbers, TheNormOfTheInverseIsThatOfPlainElimination) {
  using T = TypeParam;
  const std::int64_t n = 60;
  auto a = random_matrix<T>(n, n, 21);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) += T(4, 4);
  const double exact = norm_of_inverse<Wide>(a);
  Runtime runtime(config_of({}));
  Flow flow(runtime);
  const auto tiles = runtime.tiled<T>("A", n, n, 16);
  fill<T>(flow, std::make_shared<GivenMatrix<T>>(a), tiles, Tiles::all);
  const RowPivots<T> p(runtime, tiles);
  factor_lu_pivoted(flow, kernels(), tiles, p);
  wait_for_results(flow);
  InverseNorm<T> norm(
      runtime, n, 16,
      {[&](Flow& f, const TiledMatrix<T>& b) { solve_lu_pivoted_factored(f, kernels(), tiles, p, b); },
       [&](Flow& f, const TiledMatrix<T>& b) { solve_lu_pivoted_transposed(f, kernels(), tiles, p, b); },
       [](std::int64_t) { return std::uint64_t{0}; }});
  while (!norm.done()) {
    norm.submit(flow);
    wait_for_results(flow);
  }
  EXPECT_LE(norm.value(), exact * 1.001);
  EXPECT_GE(norm.value(), exact / 3);
}

}  // namespace
}  // namespace fairlead::linalg::testing::complex_numbers
