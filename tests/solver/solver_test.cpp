// The public solver: every method against elimination in long double; matrices in memory, in files and behind functions;
// memory that is too small for the matrix.
#include <fairlead/solver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "data/npy/npy_writer.hpp"
#include "sanitized.hpp"
#include "solver/dense_systems.hpp"
#include "solver/factor_systems.hpp"
#include "temporary_directory.hpp"

namespace fairlead::linalg {
namespace {

using tests::backward_error_of;
using tests::DenseSystem;
using tests::dominant_system;
using tests::every_method;
using tests::exact_solution;
using tests::plain_system_for;
using tests::random_system;
using tests::relative_difference;
using tests::symmetric_system;

SolverOptions options_of(Method method, std::int32_t tile = 16) {
  return {.memory = 64_MiB, .method = method, .tile = tile, .workers = 2, .config = Config()};
}

template <class T>
MatrixView<T> view(const DenseSystem<T>& system) {
  return {.elements = system.a.data(), .rows = system.rows, .columns = system.columns};
}

template <class T>
std::vector<T> solve(Solver& solver, const DenseSystem<T>& system) {
  return solver.solve(view(system), system.b, system.sides);
}

template <class T>
class SolverOf : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(SolverOf, Precisions);

TYPED_TEST(SolverOf, SolvesByEachMethodAsEliminationDoes) {
  using T = TypeParam;
  for (const Method method : every_method())
    for (const std::int64_t n : {1, 2, 15, 16, 17, 33, 75})
      for (const std::int64_t sides : {1, 3}) {
        const auto system = plain_system_for<T>(method, n, sides, 7);
        Solver solver(options_of(method));
        const std::vector<T> x = solve(solver, system);
        const std::string what = std::string(name_of(method)) + ", n = " + std::to_string(n);
        EXPECT_LT(relative_difference(x, exact_solution(system)), 50 * std::numeric_limits<T>::epsilon())
            << what;
        EXPECT_EQ(solver.report().method, method) << what;
        EXPECT_EQ(solver.report().method_reason, "") << what;
        EXPECT_LE(solver.report().backward_error, solver.report().backward_error_limit) << what;
        EXPECT_EQ(solver.report().right_hand_sides, sides) << what;
        EXPECT_TRUE(solver.report().condition) << what;
        EXPECT_TRUE(solver.report().warnings.empty()) << what;
      }
}

TYPED_TEST(SolverOf, SolvesMatricesThatNeedPivots) {
  using T = TypeParam;
  for (const Method method : {Method::lu, Method::lu_incremental, Method::qr, Method::automatic}) {
    DenseSystem<T> system = random_system<T>(70, 70, 2, 11);
    system.at(0, 0) = 0;
    Solver solver(options_of(method));
    const std::vector<T> x = solve(solver, system);
    EXPECT_LT(backward_error_of(system, x), 70 * std::numeric_limits<T>::epsilon()) << name_of(method);
    EXPECT_LT(relative_difference(x, exact_solution(system)), 1e5 * std::numeric_limits<T>::epsilon());
  }
}

TYPED_TEST(SolverOf, FindsTheLeastSquaresSolution) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair(40, 17), {100, 3}, {17, 16}, {200, 1}}) {
    const DenseSystem<T> system = random_system<T>(m, n, 2, 5);
    Solver solver(options_of(Method::automatic));
    const std::vector<T> x = solve(solver, system);
    EXPECT_EQ(x.size(), static_cast<std::size_t>(2 * n));
    EXPECT_LT(relative_difference(x, exact_solution(system)), 1e4 * std::numeric_limits<T>::epsilon())
        << m << ", " << n;
    EXPECT_EQ(solver.report().method, Method::qr);
    EXPECT_EQ(solver.report().rank, n);
    EXPECT_GT(solver.report().residual, 0.0);
    EXPECT_NE(solver.report().method_reason, "");
  }
}

// Combinations of the rows of A are the solutions of smallest norm.
TYPED_TEST(SolverOf, FindsTheSmallestOfManySolutions) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair(17, 40), {3, 100}, {16, 17}, {1, 200}}) {
    DenseSystem<T> system = random_system<T>(m, n, 2, 5);
    std::vector<double> smallest(static_cast<std::size_t>(2 * n));
    for (std::int64_t c = 0; c < 2; ++c) {
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i)
          smallest[static_cast<std::size_t>(j + c * n)] +=
              system.at(i, j) * static_cast<double>((i + c) % 3 - 1);
      for (std::int64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < n; ++j)
          sum += system.at(i, j) * smallest[static_cast<std::size_t>(j + c * n)];
        system.b[static_cast<std::size_t>(i + c * m)] = static_cast<T>(sum);
      }
    }
    Solver solver(options_of(Method::automatic));
    const std::vector<T> x = solve(solver, system);
    ASSERT_EQ(x.size(), smallest.size());
    double off = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      off = std::max(off, std::abs(static_cast<double>(x[i]) - smallest[i]));
      size = std::max(size, std::abs(smallest[i]));
    }
    EXPECT_LT(off, 1e4 * std::numeric_limits<T>::epsilon() * size) << m << ", " << n;
    EXPECT_EQ(solver.report().method, Method::qr);
    EXPECT_EQ(solver.report().rank, m);
    EXPECT_EQ(solver.report().columns, n);
    EXPECT_LE(solver.report().backward_error, solver.report().backward_error_limit);
    EXPECT_THROW(solver.factor(view_of(system)), InputError);
    EXPECT_GT(solver.plan(m, n, ElementType::float64, 2).seconds, 0.0);
  }
}

TYPED_TEST(SolverOf, ReadsRowsColumnsAndPartsOfLargerMatrices) {
  using T = TypeParam;
  const std::int64_t n = 37, stride = 50;
  const DenseSystem<T> system = dominant_system<T>(n, 1, 3);
  Solver solver(options_of(Method::lu_incremental));
  const std::vector<T> expected = solve(solver, system);
  std::vector<T> rows(static_cast<std::size_t>(n * n)), part(static_cast<std::size_t>(n * stride), T(1e9));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      rows[static_cast<std::size_t>(j + i * n)] = system.at(i, j);
      part[static_cast<std::size_t>(j + i * stride)] = system.at(i, j);
    }
  const MatrixView<T> by_rows{rows.data(), n, n, StorageOrder::c},
      inside{part.data(), n, n, StorageOrder::c, stride};
  EXPECT_EQ(solver.solve(by_rows, system.b), expected);
  EXPECT_EQ(solver.solve(inside, system.b), expected);
}

TYPED_TEST(SolverOf, SolvesWhatAFunctionComputes) {
  using T = TypeParam;
  const std::int64_t n = 60;
  const auto source = matrix_from<T>(n, n, [](std::int64_t i, std::int64_t j) {
    return static_cast<T>(i == j ? 10 : 1.0 / static_cast<double>(1 + i + 2 * j));
  });
  DenseSystem<T> system = random_system<T>(n, n, 1, 1);
  source->read(0, n, 0, n, system.a.data(), n);
  Solver solver(options_of(Method::automatic));
  const std::vector<T> x = solver.solve(*source, system.b);
  EXPECT_LT(relative_difference(x, exact_solution(system)), 50 * std::numeric_limits<T>::epsilon());
  EXPECT_EQ(solver.report().method, Method::lu);
  EXPECT_EQ(solver.report().precision,
            (std::is_same_v<T, float>) ? ElementType::float32 : ElementType::float64);
}

TYPED_TEST(SolverOf, SpillsWhatMemoryDoesNotHold) {
  using T = TypeParam;
  const std::int64_t n = std::is_same_v<T, float> ? 1200 : 900;
  for (const Method method : every_method()) {
    if (tests::sanitized && method != Method::ldlt) continue;  // n^3 operations of unoptimized code
    const auto system = plain_system_for<T>(method, n, 1, 2);
    Solver solver({.memory = 5_MiB, .method = method, .tile = 48, .workers = 1, .config = Config()});
    const std::vector<T> x = solve(solver, system);
    EXPECT_LT(backward_error_of(system, x), static_cast<double>(n) * std::numeric_limits<T>::epsilon())
        << name_of(method);
    EXPECT_GT(solver.report().bytes_written, 0u) << name_of(method);
    EXPECT_GT(solver.report().bytes_read, 0u) << name_of(method);
  }
}

void write_matrix(const std::string& path, const DenseSystem<double>& system, data::ElementType element) {
  data::NpyWriter out(path, element, data::StorageOrder::c,
                      {static_cast<std::uint64_t>(system.rows), static_cast<std::uint64_t>(system.columns)});
  const auto rows = static_cast<std::uint64_t>(system.rows),
             columns = static_cast<std::uint64_t>(system.columns);
  if (element == data::ElementType::float64) {
    out.write_block<double>(0, rows, 0, columns, system.a.data(), rows);
  } else {
    const std::vector<float> rounded(system.a.begin(), system.a.end());
    out.write_block<float>(0, rows, 0, columns, rounded.data(), rows);
  }
  out.commit();
}

TEST(Solver, ReadsFiles) {
  const tests::TemporaryDirectory folder;
  const std::string path = (folder / "A.npy").string();
  DenseSystem<double> system = symmetric_system<double>(45, 1, 9);
  write_matrix(path, system, data::ElementType::float64);
  Solver solver(options_of(Method::automatic));
  EXPECT_LT(relative_difference(solver.solve(path, system.b), exact_solution(system)), 1e-13);
  EXPECT_EQ(solver.report().method, Method::cholesky);
  EXPECT_EQ(solver.solve(*open_matrix(path), system.b), solver.solve(path, system.b));

  // Single precision in the file is exact; b decides on double precision.
  for (double& element : system.a) element = static_cast<double>(static_cast<float>(element));
  write_matrix(path, system, data::ElementType::float32);
  EXPECT_LT(relative_difference(solver.solve(path, system.b), exact_solution(system)), 1e-13);
  EXPECT_EQ(solver.report().precision, ElementType::float64);
  EXPECT_THROW(static_cast<void>(solver.solve((folder / "B.npy").string(), system.b)), InputError);
}

TEST(Solver, ReadsOneTriangleOrTheMeanOfBoth) {
  const DenseSystem<double> system = symmetric_system<double>(40, 1, 4);
  const std::vector<double> expected = exact_solution(system);
  for (const Stored stored : {Stored::lower, Stored::upper, Stored::mean}) {
    DenseSystem<double> given = system;
    for (std::int64_t j = 0; j < 40; ++j)
      for (std::int64_t i = j + 1; i < 40; ++i) {
        if (stored == Stored::lower) given.at(j, i) = std::numeric_limits<double>::quiet_NaN();
        if (stored == Stored::upper) given.at(i, j) = std::numeric_limits<double>::quiet_NaN();
        if (stored == Stored::mean) given.at(i, j) *= 1 + 1e-10, given.at(j, i) *= 1 - 1e-10;
      }
    SolverOptions options = options_of(Method::automatic);
    options.stored = stored;
    Solver solver(options);
    EXPECT_LT(relative_difference(solve(solver, given), expected), 1e-12);
    EXPECT_EQ(solver.report().method, Method::cholesky);
  }
}

TEST(Solver, RefinesAFactorInSinglePrecision) {
  const DenseSystem<double> system = symmetric_system<double>(80, 2, 6);
  for (const Method method : {Method::cholesky, Method::automatic}) {
    SolverOptions options = options_of(method);
    options.refine = true;
    Solver solver(options);
    EXPECT_LT(relative_difference(solve(solver, system), exact_solution(system)), 1e-13);
    EXPECT_GT(solver.report().refinement_steps, 1);
    EXPECT_EQ(solver.report().method, Method::cholesky);
  }
}

TEST(Solver, RefinesAMatrixInSinglePrecisionAsWell) {
  const DenseSystem<float> system = symmetric_system<float>(50, 1, 6);
  SolverOptions options = options_of(Method::automatic);
  options.refine = true;
  Solver solver(options);
  EXPECT_LT(relative_difference(solve(solver, system), exact_solution(system)),
            std::numeric_limits<float>::epsilon());
}

TEST(Solver, FallsBackToDoublePrecisionWithAWarning) {
  const DenseSystem<double> system = tests::hilbert_system(9);  // its condition is 5e11
  SolverOptions options = options_of(Method::cholesky);
  options.refine = true;
  Solver solver(options);
  EXPECT_LT(relative_difference(solve(solver, system), exact_solution(system)), 1e-3);
  ASSERT_FALSE(solver.report().warnings.empty());
  EXPECT_NE(solver.report().warnings.front().find("trying again in double precision"), std::string::npos);
}

TEST(Solver, MayBeUsedAgain) {
  Solver solver(options_of(Method::automatic));
  const DenseSystem<double> first = symmetric_system<double>(20, 1, 1),
                            second = dominant_system<double>(31, 2, 1);
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_LT(relative_difference(solve(solver, first), exact_solution(first)), 1e-13);
    EXPECT_EQ(solver.report().method, Method::cholesky);
    EXPECT_LT(relative_difference(solve(solver, second), exact_solution(second)), 1e-13);
    EXPECT_EQ(solver.report().method, Method::lu);
    EXPECT_EQ(solver.report().rows, 31);
  }
}

TEST(Solver, ReportsWhatASolveTakes) {
  const DenseSystem<double> system = symmetric_system<double>(100, 1, 1);
  Solver solver(options_of(Method::cholesky));
  solve(solver, system);
  const SolveReport& report = solver.report();
  double counted = 0;
  std::vector<std::string> names;
  for (const SolvePhase& phase : report.phases) {
    names.push_back(phase.name);
    if (phase.counts) counted += phase.seconds;
  }
  EXPECT_NEAR(counted, report.seconds, 1e-9);
  for (const char* name : {"reading", "factorization", "solve", "error check", "condition estimate"})
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
  EXPECT_EQ(report.tile, 16);
  EXPECT_GT(report.digits, 10);
  EXPECT_FALSE(report.growth);
}

TEST(Solver, EstimatesNoConditionUnlessAsked) {
  const DenseSystem<double> system = symmetric_system<double>(30, 1, 1);
  SolverOptions options = options_of(Method::cholesky);
  options.condition = false;
  Solver solver(options);
  EXPECT_LT(relative_difference(solve(solver, system), exact_solution(system)), 1e-13);
  EXPECT_FALSE(solver.report().condition);
  EXPECT_FALSE(solver.report().digits);
}

}  // namespace
}  // namespace fairlead::linalg
