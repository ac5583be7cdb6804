// Complex QR and LU factorizations with incremental pivoting, and least squares, compared with plain loops in long double.
#include <fairlead/parameterized_linalg.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/linalg/complex_world.hpp"
#include "algorithms/linalg/least_squares_error.hpp"
#include "algorithms/linalg/truncated_triangle.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing::complex_numbers {
namespace {

constexpr QrTree both_trees[] = {QrTree::flat, QrTree::binary};

template <class T>
class ComplexFactors : public ::testing::Test {};
TYPED_TEST_SUITE(ComplexFactors, ComplexTypes);

/// Q R with Q from its application to the identity; the factors by a flow or by a graph.
template <class T>
struct ComplexQr {
  Dense<T> r, q;
};
template <class T>
ComplexQr<T> qr_of(const Dense<T>& given, std::int32_t tile, QrTree tree, bool by_graph,
                   Bytes memory = plenty) {
  Runtime runtime(config_of({.memory = memory}));
  Flow flow(runtime);
  const auto a = runtime.tiled<T>("A", given.rows, given.columns, tile),
             q = runtime.tiled<T>("Q", given.rows, given.rows, tile);
  const QrReflectors<T> reflectors(runtime, a, tree, 3);
  fill<T>(flow, std::make_shared<GivenMatrix<T>>(given), a, Tiles::all);
  flow.wait();
  if (by_graph) {
    ptg::Graph graph(runtime);
    factor_qr(graph, kernels(), a, reflectors);
    run_for_results(graph);
  } else {
    factor_qr(flow, kernels(), a, reflectors);
  }
  Dense<T> eye{given.rows, given.rows, std::vector<T>(static_cast<std::size_t>(given.rows * given.rows))};
  for (std::int64_t i = 0; i < given.rows; ++i) eye(i, i) = 1;
  fill<T>(flow, std::make_shared<GivenMatrix<T>>(eye), q, Tiles::all);
  apply_q(flow, kernels(), ApplyQ::plain, a, reflectors, q);
  wait_for_results(flow);
  return {fetch(flow, a), fetch(flow, q)};
}

TYPED_TEST(ComplexFactors, QIsUnitaryAndTimesRIsTheMatrix) {
  using T = TypeParam;
  for (const auto& [m, n, tile, memory] : {std::tuple(1, 1, 4, plenty),
                                           {9, 4, 4, plenty},
                                           {25, 25, 8, plenty},
                                           {61, 33, 16, plenty},
                                           {120, 70, 16, Bytes{1} << 19}})
    for (const QrTree tree : both_trees) {
      const auto a = random_matrix<T>(m, n, 3);
      const auto found = qr_of(a, tile, tree, false, memory);
      const auto q = [&](std::int64_t i, std::int64_t k) { return wide(found.q(i, k)); };
      const auto adjoint_of_q = [&](std::int64_t i, std::int64_t k) {
        return std::conj(wide(found.q(k, i)));
      };
      const auto r = [&](std::int64_t k, std::int64_t j) { return k <= j ? wide(found.r(k, j)) : Wide(0); };
      EXPECT_LT(product_error(a, q, r), 5) << m << " x " << n;
      Dense<T> eye{m, m, std::vector<T>(static_cast<std::size_t>(m * m))};
      for (std::int64_t i = 0; i < m; ++i) eye(i, i) = 1;
      EXPECT_LT(product_error(eye, adjoint_of_q, q), 5) << m << " x " << n;
      const auto by_graph = qr_of(a, tile, tree, true);
      EXPECT_TRUE(by_graph.r == found.r && by_graph.q == found.q) << m << " x " << n;
    }
}

/// b := A x + what is orthogonal to the columns of A; the residual of the solution relative to that of rounding.
template <class T>
struct SolvedLeastSquares {
  double error, spoilt_error;
};
template <class T>
SolvedLeastSquares<T> solved_least_squares(std::int64_t m, std::int64_t n, std::int64_t sides, QrTree tree) {
  using Part = typename T::value_type;
  constexpr std::int32_t tile = 16;
  Runtime runtime(config_of({}));
  Flow flow(runtime);
  const auto given = random_matrix<T>(m, n, 3), b = random_matrix<T>(m, sides, 4);
  auto x = b;
  const auto a = runtime.tiled<T>("A", m, n, tile);
  const QrReflectors<T> q(runtime, a, tree);
  fill<T>(flow, std::make_shared<GivenMatrix<T>>(given), a, Tiles::all);
  factor_qr(flow, kernels(), a, q);
  {
    const auto columns = runtime.tiled_in_place<T>("x", x.elements.data(), m, sides, m, tile);
    solve_qr_factored(flow, kernels(), a, q, columns);
    wait_for_results(flow);
  }
  // A^H (b - A x) = 0 by plain loops.
  for (std::int64_t c = 0; c < sides; ++c) {
    std::vector<Wide> r(static_cast<std::size_t>(m));
    long double size = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      Wide& of_row = r[static_cast<std::size_t>(i)] = wide(b(i, c));
      for (std::int64_t j = 0; j < n; ++j) of_row -= wide(given(i, j)) * wide(x(j, c));
      size = std::max(size, std::abs(of_row));
    }
    for (std::int64_t j = 0; j < n; ++j) {
      Wide normal = 0;
      for (std::int64_t i = 0; i < m; ++i)
        normal += std::conj(wide(given(i, j))) * r[static_cast<std::size_t>(i)];
      EXPECT_LT(std::abs(normal), 30 * static_cast<long double>(m) * std::max<long double>(size, 1) *
                                      static_cast<long double>(std::numeric_limits<Part>::epsilon()));
    }
  }
  const Dense<WideOf<T>> wide_a{m, n, {given.elements.begin(), given.elements.end()}},
      wide_b{m, sides, {b.elements.begin(), b.elements.end()}};
  const auto error_of = [&] {
    LeastSquaresError<T> error(kernels(), std::make_shared<GivenMatrix<WideOf<T>>>(wide_a),
                               std::make_shared<GivenMatrix<WideOf<T>>>(wide_b), x.elements.data(), m, sides);
    error.check(
        runtime, flow, tile,
        [&](Flow& into, const TiledMatrix<T>& r) { apply_q(into, kernels(), ApplyQ::transposed, a, q, r); },
        [&] { wait_for_results(flow); });
    return error.value() / static_cast<double>(std::numeric_limits<Part>::epsilon());
  };
  const double error = error_of();
  x(n - 1, sides - 1) *= T(1, static_cast<Part>(1e5) * std::numeric_limits<Part>::epsilon());
  return {error, error_of()};
}

TYPED_TEST(ComplexFactors, SolutionsOfLeastSquaresAreOrthogonalToWhatIsLeft) {
  for (const auto& [m, n, sides] :
       {std::tuple(1, 1, 1), {40, 39, 2}, {90, 33, 20}, {300, 140, 3}, {700, 20, 9}})
    for (const QrTree tree : both_trees) {
      const auto solved = solved_least_squares<TypeParam>(m, n, sides, tree);
      EXPECT_LT(solved.error, 10) << m << " x " << n;
      EXPECT_GT(solved.spoilt_error, 100) << m << " x " << n;
    }
}

TEST(ComplexTriangle, OfRankOneHasMultiplesOfItsConjugateRowAsSolutions) {
  using Complex = std::complex<double>;
  for (const std::int64_t n : {1, 2, 25, 26, 60}) {
    std::vector<Complex> memory(static_cast<std::size_t>(n * TruncatedTriangle<Complex>::columns_needed(n)));
    double squares = 0;
    const auto value = [](std::int64_t j) { return Complex(1 + std::sin(j) / 2, std::cos(3 * j)); };
    for (std::int64_t j = 0; j < n; ++j) {
      memory[static_cast<std::size_t>(j * n)] = value(j);
      squares += std::norm(value(j));
    }
    const TruncatedTriangle<Complex> triangle(kernels(), n, 1e-13);
    const Spectrum found = triangle.reduce(memory.data());
    EXPECT_EQ(found.rank, 1) << n;
    EXPECT_NEAR(found.largest, std::sqrt(squares), 1e-12 * std::sqrt(squares));
    Complex* const sides = triangle.sides(memory.data());
    const auto fill_sides = [&] {
      for (std::int64_t c = 0; c < 2; ++c)
        for (std::int64_t i = 0; i < n; ++i) sides[i + c * n] = Complex(double(c + 2), 1) * double(i + 1);
    };
    fill_sides();
    triangle.solve(memory.data(), 2);
    // x = v^H b / || v ||^2 for the row v and the first element of b.
    for (std::int64_t c = 0; c < 2; ++c)
      for (std::int64_t i = 0; i < n; ++i)
        EXPECT_LT(std::abs(sides[i + c * n] - Complex(double(c + 2), 1) * std::conj(value(i)) / squares),
                  1e-12)
            << n << " " << i;
    double norms[2];
    fill_sides();
    triangle.project(memory.data(), norms, TruncatedTriangle<Complex>::Space::columns);
    EXPECT_NEAR(norms[0], std::sqrt(5), 1e-11) << n;
    EXPECT_NEAR(norms[1], std::sqrt(10), 1e-11) << n;
    fill_sides();
    Complex along = 0;
    for (std::int64_t i = 0; i < n; ++i) along += value(i) * sides[i];
    triangle.project(memory.data(), norms, TruncatedTriangle<Complex>::Space::rows);
    EXPECT_NEAR(norms[0], std::abs(along) / std::sqrt(squares), 1e-11 * std::abs(along)) << n;
  }
}

TYPED_TEST(ComplexFactors, LuWithIncrementalPivotsSolvesWithTheMatrixAndItsAdjoint) {
  using T = TypeParam;
  for (const auto& [n, tile, sides] : {std::tuple(1, 4, 1), {50, 16, 1}, {97, 24, 30}}) {
    Runtime runtime(config_of({}));
    Flow flow(runtime);
    const auto given = random_matrix<T>(n, n, 9), b = random_matrix<T>(n, sides, 77);
    const auto a = runtime.tiled<T>("A", n, n, tile);
    const IncrementalPivots<T> p(runtime, a, 4);
    fill<T>(flow, std::make_shared<GivenMatrix<T>>(given), a, Tiles::all);
    factor_lu_incremental(flow, kernels(), a, p);
    const auto solved = [&](const auto& solve) {
      auto x = b;
      {
        const auto columns =
            runtime.tiled_in_place<T>("x", x.elements.data(), b.rows, b.columns, b.rows, a.tile());
        solve(columns);
        wait_for_results(flow);
      }
      return x;
    };
    const auto x = solved([&](auto& c) { solve_lu_incremental_factored(flow, kernels(), a, p, c); });
    EXPECT_LT(residual_of(x, b, [&](std::int64_t i, std::int64_t j) { return wide(given(i, j)); }), 60);
    EXPECT_LT(residual_of(solved([&](auto& c) { solve_lu_incremental_transposed(flow, kernels(), a, p, c); }),
                          b, [&](std::int64_t i, std::int64_t j) { return std::conj(wide(given(j, i))); }),
              60);
    EXPECT_TRUE(solved([&](auto& c) {
                  ptg::Graph graph(runtime);
                  solve_lu_incremental_factored(graph, kernels(), a, p, c);
                  run_for_results(graph);
                }) == x);
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing::complex_numbers
