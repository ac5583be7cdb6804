// Factorizations and solves on real threads, checked by the criteria of LAPACK's tests.
#include <fairlead/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

template <class T>
class Cholesky : public ::testing::Test {};
using PrecisionsOfCholesky = BothOrFirst<double, float>;
TYPED_TEST_SUITE(Cholesky, PrecisionsOfCholesky);

TYPED_TEST(Cholesky, HasASmallResidualForSizesUnequalToTheTile) {
  using T = TypeParam;
  const int tile = 32;
  for (const int n : {1, 2, 3, tile - 1, tile, tile + 1, 61, 127, 257}) {
    const auto a = std::make_shared<GeneratedSpd<T>>(n, 7);
    EXPECT_LT(factor_residual(dense<T>(*a), factor<T>(a, tile, {})), 30) << "n = " << n;
  }
}

TYPED_TEST(Cholesky, SolvesForOneAndForSeveralRightHandSides) {
  using T = TypeParam;
  for (const auto& [n, columns, tile] :
       {std::tuple(1, 1, 8), {7, 3, 8}, {97, 1, 16}, {97, 5, 16}, {64, 40, 16}}) {
    Runtime runtime(config_of({}));
    const auto source = std::make_shared<GeneratedSpd<T>>(n, 1);
    const auto b = dense<T>(GeneratedUniform<T>(n, columns, 2));
    auto x = b;
    const auto a = runtime.tiled<T>("A", n, n, tile, Tiles::lower);
    const auto tiled_x = runtime.tiled_in_place<T>("x", x.elements.data(), n, columns, n, tile);
    Flow flow(runtime);
    fill<T>(flow, source, a, Tiles::lower);
    solve(flow, kernels(), a, tiled_x);
    wait_for_results(flow);
    EXPECT_LT(solution_residual(dense<T>(*source), x, b), 30) << n << " x " << columns;
  }
}

// Right-hand sides in tiles of the runtime, which are evicted and read like those of the matrix.
TYPED_TEST(Cholesky, SolvesForRightHandSidesThatDoNotFitInMemory) {
  using T = TypeParam;
  const int n = 190, columns = 70, tile = 32;
  Runtime runtime(config_of({.memory = 12 * tile * tile * sizeof(T) + 65536}));
  const auto source = std::make_shared<GeneratedSpd<T>>(n, 1);
  const auto b = std::make_shared<GeneratedUniform<T>>(n, columns, 2);
  const auto a = runtime.tiled<T>("A", n, n, tile, Tiles::lower);
  const auto x = runtime.tiled<T>("x", n, columns, tile);
  Flow flow(runtime);
  fill<T>(flow, source, a, Tiles::lower);
  fill<T>(flow, b, x, Tiles::all);
  solve(flow, kernels(), a, x);
  wait_for_results(flow);
  const auto result = fetch(flow, x);
  EXPECT_LT(solution_residual(dense<T>(*source), result, dense<T>(*b)), 30);
  EXPECT_GT(runtime.disk_traffic().read, 0u);
}

TYPED_TEST(Cholesky, NamesTheColumnWhereTheMatrixIsNotPositiveDefinite) {
  using T = TypeParam;
  for (const int bad : {0, 1, 31, 32, 70, 99}) {
    auto a = dense<T>(GeneratedSpd<T>(100, 3));
    a(bad, bad) = -1;
    try {
      factor<T>(std::make_shared<GivenMatrix<T>>(a), 32, {});
      FAIL() << "nothing was thrown";
    } catch (const NumericalError& error) {
      EXPECT_THAT(error.what(),
                  ::testing::HasSubstr("not positive definite: the factorization fails in column " +
                                       std::to_string(bad) + ", counted from 0"));
    }
  }
}

TEST(CholeskyShapes, MismatchIsRejected) {
  Runtime runtime(config_of({}));
  const auto wide = runtime.tiled<double>("A", 10, 20, 5), a = runtime.tiled<double>("A", 20, 20, 5);
  const auto short_b = runtime.tiled<double>("b", 19, 1, 5),
             other_tile = runtime.tiled<double>("b", 20, 1, 4);
  Flow flow(runtime);
  EXPECT_THROW(cholesky(flow, kernels(), wide), UsageError);
  EXPECT_THROW(solve_factored(flow, kernels(), a, short_b), UsageError);
  EXPECT_THROW(solve_factored(flow, kernels(), a, other_tile), UsageError);
  EXPECT_EQ(flow.submitted(), 0u);
}

TEST(CholeskyTasks, CountMatchesTheFormula) {
  for (const int n : {1, 40, 64, 65, 200}) {
    Runtime runtime(config_of({}));
    const auto a = runtime.tiled<double>("A", n, n, 32, Tiles::lower),
               b = runtime.tiled<double>("b", n, 33, 32);
    Flow flow(runtime);
    fill<double>(flow, std::make_shared<GeneratedSpd<double>>(n, 1), a, Tiles::lower);
    fill<double>(flow, std::make_shared<GeneratedUniform<double>>(n, 33, 1), b, Tiles::all);
    const auto before = flow.submitted();
    cholesky(flow, kernels(), a);
    EXPECT_EQ(flow.submitted() - before, cholesky_tasks(a.tile_rows()));
    const auto between = flow.submitted();
    solve_factored(flow, kernels(), a, b);
    EXPECT_EQ(flow.submitted() - between, solve_tasks(a.tile_rows(), 2));
    wait_for_results(flow);
  }
}

// The error of a solution with a known perturbation.
TEST(BackwardError, MatchesItsDefinition) {
  const int n = 300;
  const auto a = std::make_shared<GeneratedSpd<double>>(n, 1);
  const auto b = std::make_shared<GeneratedUniform<double>>(n, 2, 2);
  const auto da = dense<double>(*a), db = dense<double>(*b);
  Dense<double> x = db;
  for (double& value : x.elements) value /= n;
  double norm_a = 0, expected = 0;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += std::abs(da(i, j));
    norm_a = std::max(norm_a, sum);
  }
  for (int c = 0; c < 2; ++c) {
    double residual = 0, norm_x = 0, norm_b = 0;
    for (int i = 0; i < n; ++i) {
      double r = db(i, c);
      for (int j = 0; j < n; ++j) r -= da(i, j) * x(j, c);
      residual = std::max(residual, std::abs(r));
      norm_x = std::max(norm_x, std::abs(x(i, c)));
      norm_b = std::max(norm_b, std::abs(db(i, c)));
    }
    expected = std::max(expected, residual / (norm_a * norm_x + norm_b));
  }
  Runtime runtime(config_of({}));
  Flow flow(runtime);
  BackwardError<double> error(kernels(), a, b, x.elements.data(), 2);
  error.submit(flow);
  flow.wait();
  EXPECT_NEAR(error.value(), expected, 1e-12 * expected);
  EXPECT_GT(expected, 1e-3);
}

TEST(BackwardError, IsNaNForASolutionWithNaN) {
  const int n = 20;
  std::vector<double> x(n, 1.0);
  x[7] = std::numeric_limits<double>::quiet_NaN();
  Runtime runtime(config_of({}));
  Flow flow(runtime);
  BackwardError<double> error(kernels(), std::make_shared<GeneratedSpd<double>>(n, 1),
                              std::make_shared<GeneratedUniform<double>>(n, 1, 2), x.data(), 1);
  error.submit(flow);
  flow.wait();
  EXPECT_TRUE(std::isnan(error.value()));
}

// A, x and b scaled by powers of two: the error is unchanged, though sums, products and norms overflow or underflow.
TEST(BackwardError, IsInvariantUnderScaling) {
  const int n = 300;
  Runtime runtime(config_of({}));
  const auto error_of = [&](int of_a, int of_x) {
    Dense<double> a = dense<double>(GeneratedSpd<double>(n, 1)),
                  b = dense<double>(GeneratedUniform<double>(n, 3, 2)), x = b;
    for (double& value : a.elements) value = std::ldexp(value, of_a);
    for (double& value : b.elements) value = std::ldexp(value, of_a + of_x);
    for (double& value : x.elements) value = std::ldexp(value / n, of_x);
    Flow flow(runtime);
    BackwardError<double> error(kernels(), std::make_shared<GivenMatrix<double>>(a),
                                std::make_shared<GivenMatrix<double>>(b), x.elements.data(), 3);
    error.submit(flow);
    flow.wait();
    return error.value();
  };
  const double expected = error_of(0, 0);
  EXPECT_GT(expected, 1e-3);
  for (const auto& [of_a, of_x] : {std::pair(1014, 0),
                                   {1014, 8},
                                   {1014, -900},
                                   {500, 500},
                                   {-500, 900},
                                   {0, 1000},
                                   {-500, -500},
                                   {900, -900},
                                   {-900, 950}})
    EXPECT_DOUBLE_EQ(error_of(of_a, of_x), expected) << of_a << " " << of_x;
}

// Denormal numbers have few digits.
TEST(BackwardError, AllowsForRoundingOfXToDenormalNumbers) {
  constexpr double least = std::numeric_limits<double>::denorm_min();
  Runtime runtime(config_of({}));
  const Dense<double> a{2, 2, {2, 1, 1, 2}}, b{2, 2, {3, 3, 20 * least, 19 * least}};
  const auto error_of = [&](const std::vector<double>& x) {
    Flow flow(runtime);
    BackwardError<double> error(kernels(), std::make_shared<GivenMatrix<double>>(a),
                                std::make_shared<GivenMatrix<double>>(b), x.data(), 2);
    error.submit(flow);
    flow.wait();
    return error.value();
  };
  EXPECT_EQ(error_of({1, 1, 8 * least, 6 * least}), 0);  // exact: 7 and 6
  EXPECT_GT(error_of({1, 1, 9 * least, 9 * least}), 0.1);
}

TEST(BackwardError, IsFiniteIfNormsOverflow) {
  Runtime runtime(config_of({}));
  const auto error_of = [&](double a, double b, const std::vector<double>& x) {
    const Dense<double> matrix{2, 2, {a, 0.75 * a, 0.75 * a, a}}, right{2, 1, {b, b}};
    Flow flow(runtime);
    BackwardError<double> error(kernels(), std::make_shared<GivenMatrix<double>>(matrix),
                                std::make_shared<GivenMatrix<double>>(right), x.data(), 1);
    error.submit(flow);
    flow.wait();
    return error.value();
  };
  const double large = 1.2e308;                       // twice that overflows
  EXPECT_NEAR(error_of(large, 1, {0, 0}), 1, 2e-15);  // less || A || times the smallest number of x
  EXPECT_DOUBLE_EQ(error_of(large / 4, 1, {4.5, -4.5}), 1.0 / 7);           // || A || || x ||
  EXPECT_DOUBLE_EQ(error_of(large / 2, large, {0.9, 0}), 0.6625 / 1.7875);  // and b
  EXPECT_EQ(error_of(large, 0, {0, 0}), 0);                                 // no residual
}

TEST(GeneratedSpd, IsSymmetricAndIndependentOfTheBlocksRead) {
  const GeneratedSpd<double> a(50, 9);
  const auto whole = dense<double>(a);
  std::vector<double> piece(10 * 20);
  a.read(15, 10, 12, 20, piece.data(), 10);
  for (int j = 0; j < 20; ++j)
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(piece[static_cast<std::size_t>(i + 10 * j)], whole(15 + i, 12 + j));
  for (int i = 0; i < 50; ++i)
    for (int j = 0; j < i; ++j) EXPECT_EQ(whole(i, j), whole(j, i));
  EXPECT_NE(whole(3, 2), whole(2, 1));
  EXPECT_NE(dense<double>(GeneratedSpd<double>(50, 8))(3, 2), whole(3, 2));
}

}  // namespace
}  // namespace fairlead::linalg::testing
