// Symmetric indefinite factorizations and the solves that follow, compared with the products of their factors and with
// LAPACK's xGESV.
#include <fairlead/error.hpp>
#include <fairlead/ldlt.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "algorithms/linalg/lapack_solution.hpp"
#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"

namespace fairlead::linalg::testing::ldlt {
namespace {

constexpr int sizes[] = {1, 2, 3, 15, 16, 17, 31, 32, 33, 61, 64, 65, 97};

template <class T>
Dense<T> zeros(std::int64_t rows, std::int64_t columns) {
  return {rows, columns, std::vector<T>(static_cast<std::size_t>(rows * columns))};
}
/// Of numbers in (-1, 1).
template <class T>
Dense<T> symmetric(std::int64_t n, std::uint64_t seed) {
  auto a = dense<T>(GeneratedUniform<T>(n, n, seed));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
  return a;
}
/// With NaN above the diagonal: only the lower triangle may be used.
template <class T>
std::shared_ptr<const MatrixSource<T>> lower_of(Dense<T> a) {
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::numeric_limits<T>::quiet_NaN();
  return std::make_shared<GivenMatrix<T>>(std::move(a));
}

template <class T>
struct LdltResult {
  Dense<T> factors, x{};
  LogDeterminant determinant{};
  Inertia inertia{};
  double largest = 0;
  Bytes bytes_read = 0;
  std::vector<std::int32_t> pivots{};
  bool operator==(const LdltResult& other) const {
    return factors == other.factors && x == other.x && pivots == other.pivots;
  }
};

template <class T>
LdltResult<T> factored(const Dense<T>& a, const Dense<T>& b, std::int32_t tile, const Setting& setting = {}) {
  Runtime runtime(config_of(setting));
  LdltResult<T> result{.factors = {}, .x = b};
  const auto tiled = runtime.tiled<T>("A", a.rows, a.rows, tile, Tiles::lower);
  const auto x = runtime.tiled_in_place<T>("x", result.x.elements.data(), b.rows, b.columns, b.rows, tile);
  const SymmetricPivots<T> p(runtime, tiled);
  Flow flow(runtime);
  fill<T>(flow, lower_of(a), tiled, Tiles::lower);
  factor_ldlt(flow, kernels(), tiled, p);
  solve_ldlt_factored(flow, kernels(), tiled, p, x);
  wait_for_results(flow);
  result.bytes_read = runtime.disk_traffic().read;
  result.determinant = ldlt_determinant(flow, p, tiled);
  result.inertia = ldlt_inertia(flow, kernels(), tiled);
  result.largest = p.largest_element();
  for (std::int32_t k = 0; k + 1 < tiled.tile_columns(); ++k) {
    const auto hold = flow.acquire(read(p.panel(k)));
    const auto panel = hold.template get<0>();
    for (std::int64_t i = 0; i < panel.size(); ++i) result.pivots.push_back(panel(i));
  }
  result.factors = fetch(flow, tiled, Tiles::lower);
  return result;
}

/// || P^T A P - L T L^T || / (n || A || eps), by plain loops.
template <class T>
double factor_residual(Dense<T> a, const LdltResult<T>& of, std::int32_t tile) {
  const std::int64_t n = a.rows;
  for (std::size_t s = 0; s < of.pivots.size(); ++s) {
    const std::int64_t i = tile + static_cast<std::int64_t>(s), j = of.pivots[s] - 1;
    EXPECT_GE(j, i);
    for (std::int64_t k = 0; k < n; ++k) std::swap(a(i, k), a(j, k));
    for (std::int64_t k = 0; k < n; ++k) std::swap(a(k, i), a(k, j));
  }
  auto l = zeros<long double>(n, n), t = l, product = l;
  for (std::int64_t j = 0; j < n; ++j) {
    l(j, j) = 1;
    for (std::int64_t i = j; i < n; ++i) {
      const auto element = static_cast<long double>(of.factors(i, j));
      if (i / tile == j / tile) {
        t(i, j) = t(j, i) = element;
      } else if (i / tile == j / tile + 1 && i % tile <= j % tile) {
        t(i, j) = t(j, i) = element;
      } else if (j + tile < n) {
        l(i, j + tile) = element;
        EXPECT_LE(std::abs(element), 1.0L);
      }
    }
  }
  auto h = product;  // T L^T
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t i = std::max<std::int64_t>(0, k - tile); i < std::min(n, k + tile + 1); ++i)
        h(i, j) += t(i, k) * l(j, k);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t i = k; i < n; ++i) product(i, j) += l(i, k) * h(k, j);
  long double norm = 0, error = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    long double row = 0, difference = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      row += std::abs(static_cast<long double>(a(i, j)));
      difference += std::abs(static_cast<long double>(a(i, j)) - product(i, j));
    }
    norm = std::max(norm, row);
    error = std::max(error, difference);
  }
  return static_cast<double>(error / (norm * n * std::numeric_limits<T>::epsilon()));
}

template <class T>
Dense<T> sides(std::int64_t n, std::int64_t columns) {
  return dense<T>(GeneratedUniform<T>(n, columns, 2));
}

template <class T>
class Ldlt : public ::testing::Test {};
using PrecisionsOfLdlt = BothOrFirst<double, float>;
TYPED_TEST_SUITE(Ldlt, PrecisionsOfLdlt);

TYPED_TEST(Ldlt, FactorsAndSolvesMatricesOfAllSizes) {
  using T = TypeParam;
  for (const int n : sizes)
    for (const int columns : {1, 20}) {
      const auto a = symmetric<T>(n, 7);
      const auto b = sides<T>(n, columns);
      const auto own = factored<T>(a, b, 16);
      EXPECT_LT(factor_residual(a, own, 16), 30) << n;
      EXPECT_LE(solution_residual(a, own.x, b), 2 * solution_residual(a, gesv(a, b), b) + 5) << n;
    }
}

/// [[A, B], [B^T, 0]] with B of full rank.
template <class T>
Dense<T> saddle_point(std::int64_t n) {
  auto a = symmetric<T>(n, 5);
  for (std::int64_t j = 2 * n / 3; j < n; ++j)
    for (std::int64_t i = 2 * n / 3; i < n; ++i) a(i, j) = 0;
  return a;
}

TYPED_TEST(Ldlt, SolvesWithZerosOnTheDiagonal) {
  using T = TypeParam;
  for (const int n : {2, 3, 33, 90, 129}) {
    auto hollow = symmetric<T>(n, 3);
    for (int i = 0; i < n; ++i) hollow(i, i) = 0;
    auto exchange = zeros<T>(n, n);
    for (int i = 0; i < n; ++i) exchange(i, n - 1 - i) = 1;
    for (const auto& a : {hollow, saddle_point<T>(n), exchange}) {
      const auto b = sides<T>(n, 2);
      const auto own = factored<T>(a, b, 16);
      EXPECT_LT(factor_residual(a, own, 16), 30) << n;
      EXPECT_LE(solution_residual(a, own.x, b), 2 * solution_residual(a, gesv(a, b), b) + 5) << n;
    }
  }
}

// The panels are zero: only the blocks on the diagonal of T are not.
TYPED_TEST(Ldlt, AcceptsPanelsWithoutPivots) {
  using T = TypeParam;
  const int n = 70;
  auto a = zeros<T>(n, n);
  for (int i = 0; i < n; ++i) a(i, i) = static_cast<T>(i % 2 == 0 ? i + 1 : -i - 1);
  const auto b = sides<T>(n, 1);
  const auto own = factored<T>(a, b, 16);
  for (int i = 0; i < n; ++i)
    EXPECT_NEAR(own.x(i, 0) * a(i, i), b(i, 0), 4 * std::numeric_limits<T>::epsilon());
}

TYPED_TEST(Ldlt, SolvesGradedMatrices) {
  using T = TypeParam;
  const int n = 80;
  for (const bool descending : {true, false}) {
    auto a = symmetric<T>(n, 11);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const int step = descending ? i + j : 2 * n - 2 - i - j;
        a(i, j) = std::ldexp(a(i, j), -step / 4);
      }
    const auto b = sides<T>(n, 3);
    const auto own = factored<T>(a, b, 16);
    EXPECT_LT(factor_residual(a, own, 16), 30);
    EXPECT_LE(solution_residual(a, own.x, b), 2 * solution_residual(a, gesv(a, b), b) + 5);
  }
}

// The elements below the blocks of the diagonal have rank 1, so that the pivots after the first are of the size of roundings.
TYPED_TEST(Ldlt, SolvesMatricesOfTinyElementsWithPanelsOfRankOne) {
  using T = TypeParam;
  const int n = 67, exponent = std::numeric_limits<T>::min_exponent + 30;
  auto a = zeros<T>(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      a(i, j) = std::ldexp(static_cast<T>(std::pow(0.95, std::abs(i - j))), exponent);
  auto b = sides<T>(n, 2);
  for (T& element : b.elements) element = std::ldexp(element, exponent);
  const auto own = factored<T>(a, b, 40);
  for (const T element : own.factors.elements) EXPECT_TRUE(std::isfinite(element));
  EXPECT_LT(factor_residual(a, own, 40), 30);
  for (Dense<T>* matrix : {&a, &b})
    for (T& element : matrix->elements) element = std::ldexp(element, -exponent);
  EXPECT_LE(solution_residual(a, own.x, b), 2 * solution_residual(a, gesv(a, b), b) + 5);
}

TYPED_TEST(Ldlt, RefusesSingularMatrices) {
  using T = TypeParam;
  for (const int bad : {0, 1, 31, 32, 70, 99}) {
    auto a = symmetric<T>(100, 3);
    for (int i = 0; i < 100; ++i) a(i, bad) = a(bad, i) = 0;
    EXPECT_THAT([&] { factored<T>(a, sides<T>(100, 1), 32); },
                ::testing::ThrowsMessage<NumericalError>(::testing::HasSubstr("the matrix is singular")))
        << bad;
  }
  EXPECT_THROW(factored<T>(zeros<T>(40, 40), sides<T>(40, 1), 16), NumericalError);
}

TYPED_TEST(Ldlt, RefusesElementsThatAreNotFinite) {
  using T = TypeParam;
  for (const T bad : {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()})
    for (const auto& [i, j] : {std::pair(70, 50), {5, 5}, {99, 0}, {99, 98}}) {
      auto a = symmetric<T>(100, 3);
      a(i, j) = bad;
      EXPECT_THROW(factored<T>(a, sides<T>(100, 1), 32), NumericalError) << i << ", " << j;
    }
}

TYPED_TEST(Ldlt, ComputesTheDeterminant) {
  using T = TypeParam;
  for (const int n : {1, 2, 17, 40, 65}) {
    const auto a = symmetric<T>(n, 23);
    const auto determinant = factored<T>(a, sides<T>(n, 1), 16).determinant;
    // By elimination with partial pivoting.
    auto u = zeros<long double>(n, n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) u(i, j) = a(i, j);
    int sign = 1;
    long double log_absolute = 0;
    for (int k = 0; k < n; ++k) {
      int pivot = k;
      for (int i = k + 1; i < n; ++i)
        if (std::abs(u(i, k)) > std::abs(u(pivot, k))) pivot = i;
      for (int j = 0; j < n; ++j) std::swap(u(k, j), u(pivot, j));
      if ((pivot != k) != (u(k, k) < 0)) sign = -sign;
      log_absolute += std::log(std::abs(u(k, k)));
      for (int i = k + 1; i < n; ++i)
        for (int j = n - 1; j >= k; --j) u(i, j) -= u(i, k) / u(k, k) * u(k, j);
    }
    EXPECT_EQ(determinant.sign, sign) << n;
    EXPECT_NEAR(determinant.log_absolute, static_cast<double>(log_absolute),
                1e4 * std::numeric_limits<T>::epsilon() * n)
        << n;
  }
}

TYPED_TEST(Ldlt, CountsTheEigenvaluesBySign) {
  using T = TypeParam;
  for (const int n : {1, 2, 16, 33, 70})
    for (const int positive : {0, n / 3, n}) {
      auto a = zeros<T>(n, n);
      for (int i = 0; i < n; ++i) a(i, i) = i < positive ? 1 : -2;
      // H A H for a Householder reflection H = I - 2 v v^T: the same eigenvalues.
      std::vector<double> v(static_cast<std::size_t>(n));
      double size = 0;
      for (int i = 0; i < n; ++i) size += (1.0 + i % 3) * (1.0 + i % 3);
      for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = (1.0 + i % 3) / std::sqrt(size);
      const auto reflection = [&](int i, int j) {
        return (i == j ? 1.0 : 0.0) - 2 * v[static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(j)];
      };
      auto reflected = zeros<T>(n, n);
      for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) {
          double sum = 0;
          for (int k = 0; k < n; ++k)
            sum += reflection(i, k) * static_cast<double>(a(k, k)) * reflection(k, j);
          reflected(i, j) = reflected(j, i) = static_cast<T>(sum);
        }
      const auto inertia = factored<T>(reflected, sides<T>(n, 1), 16).inertia;
      EXPECT_EQ(inertia, (Inertia{.positive = positive, .negative = n - positive, .zero = 0})) << n;
    }
}

TYPED_TEST(Ldlt, GivesTheSameBitsInAnyMemoryWithAnyNumberOfWorkers) {
  using T = TypeParam;
  const int n = 330, tile = 32;  // 11 x 11 tiles, the last of 10
  const auto a = symmetric<T>(n, 11);
  const auto b = sides<T>(n, 40);
  const auto in_core = factored<T>(a, b, tile);
  EXPECT_EQ(in_core.bytes_read, 0u);
  EXPECT_LT(factor_residual(a, in_core, tile), 30);
  const Bytes tile_bytes = (tile * tile * sizeof(T) + 4095) / 4096 * 4096;
  std::size_t turn = 0;
  for (const char* policy : {"eager", "lws", "darts", "what-if"})
    for (const Bytes tiles : {24, 26, 31, 38, 47, 60, 80, 110}) {
      if (fairlead::tests::left_out(turn++, 4)) continue;
      const auto out_of_core = factored<T>(
          a, b, tile, {.workers = 1 + turn % 4, .memory = tiles * tile_bytes, .scheduler = policy});
      EXPECT_TRUE(out_of_core == in_core) << policy << ", memory of " << tiles << " tiles";
      EXPECT_GT(out_of_core.bytes_read, 0u) << policy << ", " << tiles;
    }
}

TEST(LdltMemory, StatesTheLargestTileWhosePanelsFit) {
  const int n = 1000;
  const Setting setting{.memory = Bytes{1} << 20};
  std::int32_t largest = 0;
  const auto a = symmetric<double>(n, 1);
  const auto b = sides<double>(n, 1);
  try {
    factored<double>(a, b, 100, setting);
    FAIL() << "nothing was thrown";
  } catch (const FootprintError& error) {
    const std::string text = error.what(), before = "use tiles of at most ";
    largest = std::stoi(text.substr(text.find(before) + before.size()));
  }
  EXPECT_GT(largest, 50);
  EXPECT_THROW(factored<double>(a, b, largest + 1, setting), FootprintError);
  EXPECT_LT(solution_residual(a, factored<double>(a, b, largest, setting).x, b), 100);
}

TEST(LdltShapes, MismatchIsRejected) {
  Runtime runtime(config_of({}));
  const auto wide = runtime.tiled<double>("A", 10, 20, 5);
  const auto a = runtime.tiled<double>("A", 20, 20, 5, Tiles::lower),
             b = runtime.tiled<double>("b", 19, 1, 5);
  const auto other = runtime.tiled<double>("A", 20, 20, 4, Tiles::lower);
  EXPECT_THROW(SymmetricPivots<double>(runtime, wide), UsageError);
  const SymmetricPivots<double> p(runtime, a);
  Flow flow(runtime);
  EXPECT_THROW(factor_ldlt(flow, kernels(), other, p), UsageError);
  EXPECT_THROW(solve_ldlt_factored(flow, kernels(), a, p, b), UsageError);
  EXPECT_EQ(flow.submitted(), 0u);
}

TEST(LdltTasks, AreAsManyAsTheFormulaStates) {
  for (const int n : {1, 32, 33, 64, 65, 96, 97, 200, 260}) {
    Runtime runtime(config_of({}));
    const auto a = runtime.tiled<double>("A", n, n, 32, Tiles::lower);
    const auto b = runtime.tiled<double>("b", n, 50, 32);
    const SymmetricPivots<double> p(runtime, a);
    Flow flow(runtime);
    fill<double>(flow, lower_of(symmetric<double>(n, 1)), a, Tiles::lower);
    fill<double>(flow, std::make_shared<GeneratedUniform<double>>(n, 50, 1), b, Tiles::all);
    const auto before = flow.submitted();
    factor_ldlt(flow, kernels(), a, p);
    const auto then = flow.submitted();
    EXPECT_EQ(then - before, ldlt_tasks(a.tile_rows())) << n;
    solve_ldlt_factored(flow, kernels(), a, p, b);
    EXPECT_EQ(flow.submitted() - then, ldlt_solve_tasks(a.tile_rows(), 2)) << n;
    wait_for_results(flow);
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing::ldlt
