// GMRES on a tiled matrix, on one machine and over ranks: compared with elimination on the dense matrix, with the
// method's bounds for residuals, and bit for bit on every grid.
#include <fairlead/error.hpp>
#include <fairlead/gmres.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"

namespace fairlead::linalg::testing::krylov {
namespace {

/// x with A x = b, by elimination with partial pivoting.
template <class T>
std::vector<double> eliminated(const Dense<T>& given, const Dense<T>& b) {
  const std::int64_t n = given.rows;
  Dense<double> a{n, n, {given.elements.begin(), given.elements.end()}};
  std::vector<double> x(b.elements.begin(), b.elements.end());
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k; i < n; ++i)
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    for (std::int64_t j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
    std::swap(x[at(k)], x[at(pivot)]);
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = a(i, k) / a(k, k);
      for (std::int64_t j = k; j < n; ++j) a(i, j) -= factor * a(k, j);
      x[at(i)] -= factor * x[at(k)];
    }
  }
  for (std::int64_t k = n; k-- > 0;) {
    for (std::int64_t j = k + 1; j < n; ++j) x[at(k)] -= a(k, j) * x[at(j)];
    x[at(k)] /= a(k, k);
  }
  return x;
}

struct Solved {
  GmresResult result;
  std::vector<double> x;
};

/// On each rank what it owns; `guess`: the initial x.
template <class T>
GmresResult solve_on(Runtime& runtime, const MatrixSource<T>& a, const MatrixSource<T>& b, double guess,
                     std::int32_t tile, const Distribution* distribution, const GmresSettings& settings,
                     std::vector<double>& out) {
  const std::int64_t n = a.rows();
  const auto matrix = [&](const char* name, std::int64_t columns) {
    return distribution == nullptr ? runtime.tiled<T>(name, n, columns, tile)
                                   : runtime.tiled<T>(name, n, columns, tile, *distribution);
  };
  const auto tiles = matrix("A", n), right = matrix("b", 1), x = matrix("x", 1);
  Flow flow(runtime);
  const auto each = [&](const TiledMatrix<T>& of, const auto& f) {
    for (std::int32_t i = 0; i < of.tile_rows(); ++i)
      for (std::int32_t j = 0; j < of.tile_columns(); ++j)
        if (const auto handle = of.here_or_not(i, j); handle.datum().datum != nullptr)
          f(handle, std::int64_t{i} * tile, std::int64_t{j} * tile);
  };
  const auto fill = [&](const TiledMatrix<T>& of, const MatrixSource<T>& source) {
    each(of, [&](const auto& handle, std::int64_t row, std::int64_t column) {
      auto hold = flow.acquire(write(handle));
      const auto t = hold.template get<0>();
      source.read(row, handle.rows(), column, handle.columns(), t.data(), t.leading_dimension());
    });
  };
  fill(tiles, a);
  fill(right, b);
  fill(x, GivenMatrix<T>({n, 1, std::vector<T>(static_cast<std::size_t>(n), static_cast<T>(guess))}));
  flow.wait();
  const GmresResult result = gmres(runtime, kernels(), tiles, right, x, settings);
  each(x, [&](const auto& handle, std::int64_t row, std::int64_t) {
    auto hold = flow.acquire(read(handle));
    const auto t = hold.template get<0>();
    for (std::int32_t i = 0; i < t.rows(); ++i)
      out[static_cast<std::size_t>(row + i)] = static_cast<double>(t(i, 0));
  });
  return result;
}
template <class T>
Solved by_one(const MatrixSource<T>& a, const MatrixSource<T>& b, std::int32_t tile,
              const GmresSettings& settings, double guess = 0, const Setting& setting = {}) {
  Solved solved;
  solved.x.resize(static_cast<std::size_t>(a.rows()));
  Runtime runtime(config_of(setting));
  solved.result = solve_on(runtime, a, b, guess, tile, nullptr, settings, solved.x);
  return solved;
}

template <class T>
class GmresOf : public ::testing::Test {};
using GmresPrecisions = BothOrFirst<double, float>;
TYPED_TEST_SUITE(GmresOf, GmresPrecisions);

TYPED_TEST(GmresOf, MatchesElimination) {
  using T = TypeParam;
  const double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12;
  std::size_t turn = 0;
  for (const std::int64_t n : {1, 2, 16, 33, 100, 150})
    for (const int restart : {5, 30, 1000})
      for (const double guess : {0.0, 3.0}) {
        if (tests::left_out(turn++, 5)) continue;
        const GeneratedUniform<T> a(n, n, 3, static_cast<double>(n) / 2), b(n, 1, 4);
        const Solved solved = by_one<T>(a, b, 16, {.restart = restart, .tolerance = tolerance}, guess);
        EXPECT_TRUE(solved.result.converged) << n << ", " << restart;
        EXPECT_LE(solved.result.residual, tolerance);
        const std::vector<double> x = eliminated(dense<T>(a), dense<T>(b));
        double error = 0, size = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          error = std::max(error, std::abs(solved.x[i] - x[i]));
          size = std::max(size, std::abs(x[i]));
        }
        EXPECT_LT(error, 30 * tolerance * size) << n << ", " << restart << ", " << guess;
      }
}

// || b - A x || after the first step is that of the best x = s b; it never grows, also across restarts; and without restarts
// n steps are enough for any matrix.
TEST(Gmres, KeepsTheBoundsOfTheMethod) {
  constexpr std::int64_t n = 60;
  const GeneratedUniform<double> source(n, n, 9), right(n, 1, 4);  // far from the identity
  const Dense<double> a = dense<double>(source), b = dense<double>(right);
  std::vector<double> product(n);
  double squares = 0, both = 0, of_b = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += a(i, j) * b(j, 0);
    squares += sum * sum;
    both += sum * b(i, 0);
    of_b += b(i, 0) * b(i, 0);
  }
  const Solved whole = by_one<double>(source, right, 16, {.restart = n, .tolerance = 1e-10});
  EXPECT_TRUE(whole.result.converged);
  EXPECT_LE(whole.result.iterations, n + 2);
  EXPECT_DOUBLE_EQ(whole.result.history[0], 1);
  EXPECT_NEAR(whole.result.history[1], std::sqrt((of_b - both * both / squares) / of_b), 1e-12);
  for (const int restart : {7, 60}) {
    const Solved solved =
        by_one<double>(source, right, 16, {.restart = restart, .tolerance = 1e-10, .most_iterations = 100});
    const std::vector<double>& history = solved.result.history;
    EXPECT_EQ(history.size(), static_cast<std::size_t>(solved.result.iterations) + 1);
    for (std::size_t i = 1; i < history.size(); ++i) EXPECT_LE(history[i], history[i - 1] * (1 + 1e-10)) << i;
  }
}

TEST(Gmres, ReportsThatItHasNotConverged) {
  const GeneratedUniform<double> a(60, 60, 9), b(60, 1, 4);
  const Solved few = by_one<double>(a, b, 16, {.restart = 10, .tolerance = 1e-10, .most_iterations = 13});
  EXPECT_FALSE(few.result.converged);
  EXPECT_EQ(few.result.iterations, 13);
  EXPECT_GT(few.result.residual, 1e-10);
  // A tolerance below rounding: it terminates.
  const Solved near =
      by_one<double>(a, b, 16, {.restart = 60, .tolerance = 1e-17, .most_iterations = 100'000});
  EXPECT_FALSE(near.result.converged);
  EXPECT_LT(near.result.residual, 1e-12);
  EXPECT_LT(near.result.iterations, 1000);
}

// Scaling A and b by powers of two only scales x, though squares overflow or underflow.
TEST(Gmres, IsInvariantUnderScaling) {
  constexpr std::int64_t n = 40;
  const auto solved = [&](int of_a, int of_b) {
    Dense<double> a = dense<double>(GeneratedUniform<double>(n, n, 9, 20)),
                  b = dense<double>(GeneratedUniform<double>(n, 1, 4));
    for (double& value : a.elements) value = std::ldexp(value, of_a);
    for (double& value : b.elements) value = std::ldexp(value, of_b);
    return by_one<double>(GivenMatrix<double>(a), GivenMatrix<double>(b), 16, {.tolerance = 1e-12});
  };
  const Solved expected = solved(0, 0);
  EXPECT_TRUE(expected.result.converged);
  for (const auto& [of_a, of_b] :
       {std::pair(600, 0), {0, 700}, {-600, 0}, {0, -700}, {700, 900}, {-900, -800}}) {
    const Solved other = solved(of_a, of_b);
    EXPECT_TRUE(other.result.converged) << of_a << " " << of_b;
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(std::ldexp(other.x[i], of_a - of_b), expected.x[i], 1e-10) << of_a << " " << of_b;
  }
}

TEST(Gmres, AcceptsZerosAndRejectsNonFiniteInput) {
  const GeneratedUniform<double> a(40, 40, 9, 20);
  const GivenMatrix<double> zeros({40, 1, std::vector<double>(40)});
  const Solved none = by_one<double>(a, zeros, 16, {}, 5.0);
  EXPECT_TRUE(none.result.converged);
  EXPECT_THAT(none.x, ::testing::Each(0));
  // The identity: one step.
  Dense<double> identity{40, 40, std::vector<double>(1600)};
  for (std::int64_t i = 0; i < 40; ++i) identity(i, i) = 1;
  const Solved one =
      by_one<double>(GivenMatrix<double>(identity), GeneratedUniform<double>(40, 1, 4), 16, {});
  EXPECT_TRUE(one.result.converged);
  EXPECT_EQ(one.result.iterations, 1);
  identity(3, 7) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(by_one<double>(GivenMatrix<double>(identity), GeneratedUniform<double>(40, 1, 4), 16, {}),
               NumericalError);
  EXPECT_THROW(by_one<double>(a, GeneratedUniform<double>(40, 1, 4), 16, {.restart = 0}), UsageError);
  Runtime runtime(config_of({}));
  const auto square = runtime.tiled<double>("A", 40, 40, 16), two = runtime.tiled<double>("b", 40, 2, 16),
             other = runtime.tiled<double>("x", 30, 1, 16), right = runtime.tiled<double>("x", 40, 1, 16);
  EXPECT_THROW(gmres(runtime, kernels(), square, two, right), UsageError);
  EXPECT_THROW(gmres(runtime, kernels(), square, right, other), UsageError);
}

TYPED_TEST(GmresOf, HasTheSameBitsOnEveryGridInCoreAndOutOfCore) {
  using T = TypeParam;
  if (fairlead::tests::thread_sanitized) GTEST_SKIP() << "BLAS is not built for it";
  constexpr std::int64_t n = 127;
  const GeneratedUniform<T> a(n, n, 3, 40), b(n, 1, 4);
  const GmresSettings settings{.restart = 7, .tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12};
  const Solved expected = by_one<T>(a, b, 16, settings, 1.0);
  EXPECT_TRUE(expected.result.converged);
  EXPECT_GT(expected.result.iterations, 7);  // it restarted
  for (const CyclicMap& grid : {CyclicMap{1, 1}, CyclicMap{1, 2}, CyclicMap{2, 2}, CyclicMap{2, 3}})
    for (const Bytes memory : {plenty, Bytes{20} * 4096}) {
      // Out of core on 2 x 2, in core on 1 x 2.
      if (!tests::many_cases() && (grid.rank_columns != 2 || (memory == plenty) == (grid.rank_rows == 2)))
        continue;
      const Distribution distribution(grid);
      std::vector<double> x(n);
      const auto thrown = tests::on_ranks(
          static_cast<std::uint32_t>(grid.rank_rows * grid.rank_columns),
          [&](std::uint32_t) { return config_of({.workers = 1, .memory = memory}); },
          [&](Runtime& runtime) {
            const GmresResult result = solve_on<T>(runtime, a, b, 1.0, 16, &distribution, settings, x);
            EXPECT_EQ(result.history, expected.result.history);
            EXPECT_EQ(result.residual, expected.result.residual);
          });
      for (const std::string& text : thrown) EXPECT_EQ(text, "");
      EXPECT_EQ(x, expected.x) << grid.rank_rows << " x " << grid.rank_columns << ", " << memory;
    }
}

}  // namespace
}  // namespace fairlead::linalg::testing::krylov
