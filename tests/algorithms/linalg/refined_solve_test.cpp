// Solutions in double precision from factors in single precision, and the limits of this.
#include <fairlead/error.hpp>
#include <fairlead/refined_solve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "algorithms/linalg/rbf_matrix.hpp"
#include "algorithms/linalg/rounded_matrix.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

using Source = std::shared_ptr<const MatrixSource<double>>;

struct Refined {
  Dense<double> x;
  RefinedSolution made;
  Bytes bytes_read = 0;
};

Refined refined(const Source& source, const Source& b, std::int32_t tile, const Setting& setting) {
  Runtime runtime(config_of(setting));
  const auto l = runtime.tiled<float>("A", source->rows(), source->rows(), tile, Tiles::lower);
  Flow flow(runtime);
  fill<float>(flow, std::make_shared<RoundedMatrix>(source), l, Tiles::lower);
  cholesky(flow, kernels(), l);
  Refined result{dense<double>(*b), {}};
  result.made = solve_refined(flow, runtime, kernels(), l, source, b, result.x.elements.data());
  result.bytes_read = runtime.disk_traffic().read;
  return result;
}

/// The kernel matrix of points on a line; the smaller the nugget, the larger the condition.
Source kernel_matrix(std::int64_t n, double nugget) {
  RbfMatrix::Points points{n, 1, {}};
  for (std::int64_t i = 0; i < n; ++i) points.coordinates.push_back(static_cast<double>(i) / 10);
  return std::make_shared<RbfMatrix>(std::move(points), 0.5, nugget);
}

TEST(RefinedSolve, HasTheResidualOfDoublePrecisionForAnySize) {
  for (const auto& [n, columns] : {std::pair(1, 1), {2, 3}, {31, 1}, {97, 5}, {300, 40}}) {
    const Source a = std::make_shared<GeneratedSpd<double>>(n, 1);
    const Source b = std::make_shared<GeneratedUniform<double>>(n, columns, 2);
    const auto result = refined(a, b, 32, {});
    EXPECT_LT(solution_residual(dense<double>(*a), result.x, dense<double>(*b)), 30) << n << " x " << columns;
    EXPECT_LE(result.made.steps, 4);
  }
}

// The factor alone is off by roundings of single precision: 2^-24.
TEST(RefinedSolve, NeedsMoreStepsForAWorseCondition) {
  const Source b = std::make_shared<GeneratedUniform<double>>(300, 2, 2);
  int before = 0;
  for (const double nugget : {1.0, 1e-2, 1e-4}) {
    const auto result = refined(kernel_matrix(300, nugget), b, 48, {});
    EXPECT_LT(result.made.backward_error, 17.4 * 1.2e-16);  // sqrt(n) roundings
    EXPECT_LT(solution_residual(dense<double>(*kernel_matrix(300, nugget)), result.x, dense<double>(*b)), 30);
    EXPECT_GE(result.made.steps, before);
    before = result.made.steps;
  }
  EXPECT_GE(before, 3);
}

TEST(RefinedSolve, KeepsOnlyTheFactorOfTheMatrix) {
  const int n = 500, tile = 48;  // 11 x 11 tiles of float; memory for a quarter of the triangle
  const Source a = std::make_shared<GeneratedSpd<double>>(n, 3);
  const Source b = std::make_shared<GeneratedUniform<double>>(n, 1, 4);
  const auto in_core = refined(a, b, tile, {});
  for (const char* policy : {"eager", "lws", "darts", "blocks"}) {
    const auto result = refined(a, b, tile, {.memory = 17 * 12288, .scheduler = policy});
    EXPECT_TRUE(result.x == in_core.x) << policy;
    EXPECT_GT(result.bytes_read, 0u) << policy;
  }
}

TEST(RefinedSolve, ReportsATooIllConditionedMatrix) {
  const Source b = std::make_shared<GeneratedUniform<double>>(200, 1, 2);
  try {
    refined(kernel_matrix(200, 3e-7), b, 48, {});
    FAIL() << "nothing was thrown";
  } catch (const NumericalError& error) {
    EXPECT_THAT(
        error.what(),
        ::testing::HasSubstr("the matrix is too ill-conditioned for a factor in single precision: after "));
  }
}

// Elements of 1e-30 and 1e30: their residuals and corrections would leave the range of single precision.
TEST(RefinedSolve, ScalesTheResidualsOfTinyAndHugeRightHandSides) {
  const int n = 60;
  const Source a = std::make_shared<GeneratedSpd<double>>(n, 1);
  auto given = dense<double>(GeneratedUniform<double>(n, 3, 2));
  for (int i = 0; i < n; ++i) {
    given(i, 0) *= 1e-300;
    given(i, 1) *= 1e300;
    given(i, 2) = 0;
  }
  const auto result = refined(a, std::make_shared<GivenMatrix<double>>(given), 16, {});
  EXPECT_LE(result.made.backward_error, 17.4 * 1.2e-16);
  EXPECT_NE(result.x(0, 0), 0);
  EXPECT_GT(std::abs(result.x(0, 1)), 1e290);
  EXPECT_EQ(result.x(5, 2), 0);
}

TEST(RefinedSolve, RejectsMismatchedShapes) {
  Runtime runtime(config_of({}));
  const auto l = runtime.tiled<float>("A", 20, 20, 8, Tiles::lower);
  double x[30] = {};
  EXPECT_THROW(RefinedSolve<float>(runtime, kernels(), l, std::make_shared<GeneratedSpd<double>>(30, 1),
                                   std::make_shared<GeneratedUniform<double>>(30, 1, 1), x),
               UsageError);
  EXPECT_THROW(RefinedSolve<float>(runtime, kernels(), l, std::make_shared<GeneratedSpd<double>>(20, 1),
                                   std::make_shared<GeneratedUniform<double>>(21, 1, 1), x),
               UsageError);
}

TEST(RoundedMatrix, HasTheRoundedElementsInBlocksOfAnySize) {
  const auto a = std::make_shared<GeneratedSpd<double>>(300, 5);
  const RoundedMatrix rounded(a);
  const auto whole = dense<double>(*a);
  const auto all = dense<float>(rounded);  // more than fits in its scratch
  for (int j = 0; j < 300; ++j)
    for (int i = 0; i < 300; ++i) ASSERT_EQ(all(i, j), static_cast<float>(whole(i, j)));
}

}  // namespace
}  // namespace fairlead::linalg::testing
