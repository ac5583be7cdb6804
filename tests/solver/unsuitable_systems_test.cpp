// Systems that the public solver refuses or solves in another way: not definite, singular, dependent, not finite, of the
// wrong shape; solutions that cannot be trusted; options that exclude each other.
#include <fairlead/solver.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "solver/dense_systems.hpp"
#include "solver/factor_systems.hpp"

namespace fairlead::linalg {
namespace {

using tests::DenseSystem;
using tests::dominant_system;
using tests::exact_solution;
using tests::hilbert_system;
using tests::random_system;
using tests::relative_difference;
using tests::symmetric_system;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

SolverOptions small_options(Method method) {
  return {.memory = 64_MiB, .method = method, .tile = 16, .workers = 2, .config = Config()};
}

std::vector<double> solution(Solver& solver, const DenseSystem<double>& system) {
  return solver.solve({.elements = system.a.data(), .rows = system.rows, .columns = system.columns}, system.b,
                      system.sides);
}

/// The text of the error that solving throws; empty: none.
template <class Expected>
std::string error_of(const DenseSystem<double>& system, const SolverOptions& options,
                     const std::function<void(const SolveReport&)>& look = {}) {
  Solver solver(options);
  try {
    static_cast<void>(solution(solver, system));
  } catch (const Expected& error) {
    if (look) look(solver.report());
    return error.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Symmetric; its diagonal is positive, but eigenvalues are not.
DenseSystem<double> indefinite_system(std::int64_t n) {
  DenseSystem<double> system = symmetric_system<double>(n, 1, 8);
  system.at(0, n - 1) = system.at(n - 1, 0) = 10 * static_cast<double>(n);
  return system;
}

TEST(UnsuitableSystems, CholeskyRefusesAnIndefiniteMatrix) {
  EXPECT_TRUE(contains(error_of<NumericalError>(indefinite_system(50), small_options(Method::cholesky)),
                       "not positive definite"));
}

TEST(UnsuitableSystems, CholeskyRefusesAMatrixThatIsNotSymmetric) {
  EXPECT_TRUE(
      contains(error_of<NumericalError>(dominant_system<double>(50, 1, 1), small_options(Method::cholesky)),
               "not symmetric"));
}

TEST(UnsuitableSystems, TheAutomaticMethodContinuesWithLdltIfTheMatrixIsSymmetric) {
  DenseSystem<double> negative = symmetric_system<double>(50, 1, 8);
  negative.at(33, 33) = -negative.at(33, 33);
  struct Case {
    DenseSystem<double> system;
    const char* reason;
    Method method;
  };
  for (const auto& [system, reason, method] :
       {Case{indefinite_system(50), "not positive definite", Method::ldlt},
        {negative, "element in row and column 33 (counted from 0) is -", Method::ldlt},
        {dominant_system<double>(50, 1, 1), "not symmetric", Method::lu}}) {
    Solver solver(small_options(Method::automatic));
    EXPECT_LT(relative_difference(solution(solver, system), exact_solution(system)), 1e-12) << reason;
    EXPECT_EQ(solver.report().method, method) << reason;
    EXPECT_TRUE(contains(solver.report().method_reason, reason)) << solver.report().method_reason;
    EXPECT_FALSE(contains(solver.report().method_reason, "--")) << solver.report().method_reason;
  }
}

TEST(UnsuitableSystems, TheAutomaticMethodContinuesAfterRefinementFails) {
  const DenseSystem<double> system = indefinite_system(50);
  SolverOptions options = small_options(Method::automatic);
  options.refine = true;
  Solver solver(options);
  EXPECT_LT(relative_difference(solution(solver, system), exact_solution(system)), 1e-12);
  EXPECT_EQ(solver.report().method, Method::ldlt);
}

TEST(UnsuitableSystems, TheAutomaticMethodContinuesWithAStoredTriangle) {
  DenseSystem<double> lower = indefinite_system(50);
  const std::vector<double> exact = exact_solution(lower);
  for (std::int64_t j = 1; j < 50; ++j)
    for (std::int64_t i = 0; i < j; ++i) lower.at(i, j) = not_a_number;
  for (const Method method : {Method::automatic, Method::ldlt}) {
    SolverOptions options = small_options(method);
    options.stored = Stored::lower;
    Solver solver(options);
    EXPECT_LT(relative_difference(solution(solver, lower), exact), 1e-12);
    EXPECT_EQ(solver.report().method, Method::ldlt);
    EXPECT_TRUE(solver.report().growth);
  }
}

TEST(UnsuitableSystems, LdltRefusesSingularMatrices) {
  DenseSystem<double> system = symmetric_system<double>(40, 1, 2);
  for (std::int64_t i = 0; i < 40; ++i) system.at(i, 17) = system.at(17, i) = 0;
  for (const Method method : {Method::ldlt, Method::automatic})
    EXPECT_TRUE(contains(error_of<NumericalError>(system, small_options(method)), "singular"));
}

TEST(UnsuitableSystems, ExactlySingularMatricesAreErrors) {
  DenseSystem<double> system = random_system<double>(40, 40, 1, 2);
  for (std::int64_t i = 0; i < 40; ++i) system.at(i, 17) = 0;
  for (const Method method :
       {Method::lu_nopivot, Method::lu, Method::lu_incremental, Method::qr, Method::automatic})
    EXPECT_NE(error_of<NumericalError>(system, small_options(method)), "") << name_of(method);
}

TEST(UnsuitableSystems, NumericallySingularMatricesAreErrorsWithAReport) {
  const std::string text =
      error_of<NumericalError>(hilbert_system(15), small_options(Method::qr), [](const SolveReport& report) {
        EXPECT_EQ(report.digits, 0);
        EXPECT_GT(report.condition, 1e15);
        EXPECT_LE(report.backward_error, report.backward_error_limit);
      });
  EXPECT_TRUE(contains(text, "singular to rounding")) << text;
}

TEST(UnsuitableSystems, FewerDigitsThanRequiredAreAnError) {
  SolverOptions options = small_options(Method::cholesky);
  options.required_digits = 12;
  EXPECT_TRUE(contains(error_of<NumericalError>(hilbert_system(8), options),
                       "digits of the solution can be trusted"));
  options.required_digits = 1;
  EXPECT_EQ(error_of<NumericalError>(hilbert_system(8), options), "");
}

TEST(UnsuitableSystems, IllConditionedMatricesHaveAWarning) {
  Solver solver(small_options(Method::cholesky));
  static_cast<void>(solution(solver, hilbert_system(9)));
  ASSERT_EQ(solver.report().warnings.size(), 1u);
  EXPECT_TRUE(contains(solver.report().warnings[0], "ill-conditioned"));
}

TEST(UnsuitableSystems, DependentColumnsHaveTheSolutionOfLeastNorm) {
  DenseSystem<double> system = random_system<double>(60, 10, 1, 3);
  DenseSystem<double> independent{60, 9, 1, {system.a.begin(), system.a.begin() + 60 * 9}, system.b};
  for (std::int64_t i = 0; i < 60; ++i) system.at(i, 9) = system.at(i, 4);
  Solver solver(small_options(Method::automatic));
  const std::vector<double> x = solution(solver, system);
  EXPECT_EQ(solver.report().rank, 9);
  EXPECT_FALSE(solver.report().warnings.empty());
  // Equal columns share their coefficient.
  std::vector<double> expected = exact_solution(independent);
  expected[4] /= 2;
  expected.push_back(expected[4]);
  EXPECT_LT(relative_difference(x, expected), 1e-12);

  // Taken for independent, they have no certain digit.
  SolverOptions options = small_options(Method::qr);
  options.rank_tolerance = 0;
  options.required_digits = 1;
  EXPECT_TRUE(contains(error_of<NumericalError>(system, options), "no digit"));
}

TEST(UnsuitableSystems, ASquareMatrixIsReducedOnRequest) {
  DenseSystem<double> system = random_system<double>(30, 30, 1, 3);
  for (std::int64_t i = 0; i < 30; ++i) system.at(i, 29) = system.at(i, 3);
  SolverOptions options = small_options(Method::automatic);
  options.rank_tolerance = 1e-12;
  Solver solver(options);
  const std::vector<double> x = solution(solver, system);
  EXPECT_EQ(solver.report().rank, 29);
  EXPECT_NEAR(x[3], x[29], 1e-10);
}

TEST(UnsuitableSystems, ElementsThatAreNotFiniteAreNamed) {
  std::vector<Method> methods = tests::every_method();
  methods.push_back(Method::automatic);
  for (const Method method : methods)
    for (const double value : {not_a_number, HUGE_VAL}) {
      DenseSystem<double> in_a = symmetric_system<double>(40, 1, 1), in_b = in_a;
      in_a.at(21, 9) = in_a.at(9, 21) = value;
      in_b.b[30] = value;
      const std::string of_a = error_of<NumericalError>(in_a, small_options(method)),
                        of_b = error_of<NumericalError>(in_b, small_options(method));
      EXPECT_TRUE(contains(of_a, "the matrix: the element in row 21, column 9") ||
                  contains(of_a, "the matrix: the element in row 9, column 21"))
          << of_a;
      EXPECT_TRUE(contains(of_b, "the right-hand side: the element in row 30, column 0")) << of_b;
    }
}

TEST(UnsuitableSystems, ShapesThatDoNotMatchAreErrors) {
  const DenseSystem<double> square = symmetric_system<double>(20, 1, 1),
                            tall = random_system<double>(20, 10, 1, 1),
                            wide = random_system<double>(10, 20, 1, 1);
  for (const Method method : tests::every_method()) {
    if (method == Method::qr) continue;
    EXPECT_TRUE(contains(error_of<InputError>(tall, small_options(method)), "square")) << name_of(method);
  }
  for (const Method method : {Method::cholesky, Method::ldlt, Method::lu})
    EXPECT_TRUE(contains(error_of<InputError>(wide, small_options(method)), "smallest norm"));
  DenseSystem<double> wrong = square;
  wrong.b.pop_back();
  EXPECT_TRUE(contains(error_of<UsageError>(wrong, small_options(Method::automatic)), "b has 19 elements"));
  wrong.sides = 0;
  EXPECT_NE(error_of<UsageError>(wrong, small_options(Method::automatic)), "");
  EXPECT_NE(error_of<UsageError>(DenseSystem<double>{}, small_options(Method::automatic)), "");
}

TEST(UnsuitableSystems, TooLittleMemoryIsAnError) {
  SolverOptions options = small_options(Method::cholesky);
  options.memory = 100_KiB;
  EXPECT_THROW(static_cast<void>(error_of<NumericalError>(symmetric_system<double>(400, 1, 1), options)),
               Error);
}

TEST(UnsuitableSystems, OptionsThatExcludeEachOtherAreErrors) {
  const auto refused = [](const std::function<void(SolverOptions&)>& change) {
    SolverOptions options = small_options(Method::qr);
    change(options);
    EXPECT_THROW(Solver{options}, UsageError);
  };
  refused([](SolverOptions& o) { o.refine = true; });
  refused([](SolverOptions& o) { o.stored = Stored::lower; });
  refused([](SolverOptions& o) { o.rank_tolerance = 1; });
  refused([](SolverOptions& o) { o.rank_tolerance = -0.5; });
  refused([](SolverOptions& o) { o.method = Method::lu_nopivot, o.rank_tolerance = 0.5; });
  refused([](SolverOptions& o) { o.method = Method::automatic, o.rank_tolerance = 0.5, o.refine = true; });
  refused([](SolverOptions& o) { o.required_digits = 0; });
  refused([](SolverOptions& o) { o.required_digits = 16; });
  refused([](SolverOptions& o) { o.required_digits = 3, o.condition = false; });
  refused([](SolverOptions& o) { o.tile = -1; });
}

// The command has other words for the same options: --refine, --method cholesky.
TEST(UnsuitableSystems, MessagesNameTheFieldsOfTheOptions) {
  const auto refusal = [](const std::function<void(SolverOptions&)>& change) {
    SolverOptions options = small_options(Method::lu_nopivot);
    change(options);
    try {
      const Solver solver{options};
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal([](SolverOptions& o) { o.refine = true; }),
            "refine requires a symmetric matrix: Method::cholesky, not lu-nopivot");
  EXPECT_EQ(refusal([](SolverOptions& o) { o.stored = Stored::mean; }),
            "Stored::mean requires a symmetric matrix: Method::cholesky or Method::ldlt, not lu-nopivot");
  EXPECT_EQ(refusal([](SolverOptions& o) { o.rank_tolerance = 0.1; }),
            "rank_tolerance requires Method::qr, not lu-nopivot");
  EXPECT_EQ(refusal([](SolverOptions& o) { o.required_digits = 3, o.condition = false; }),
            "required_digits needs the estimate of the forward error: leave condition on");

  const std::string symmetry =
      error_of<NumericalError>(dominant_system<double>(50, 1, 1), small_options(Method::cholesky));
  EXPECT_TRUE(contains(symmetry, "Stored::lower or Stored::upper takes one triangle, Stored::mean"))
      << symmetry;
  const std::string shape =
      error_of<InputError>(random_system<double>(20, 10, 1, 1), small_options(Method::lu));
  EXPECT_TRUE(contains(shape, "for least squares: Method::qr")) << shape;
  SolverOptions options = small_options(Method::cholesky);
  options.required_digits = 12;
  const std::string digits = error_of<NumericalError>(hilbert_system(8), options);
  EXPECT_TRUE(contains(digits, "required_digits asks for 12")) << digits;
}

TEST(UnsuitableSystems, WithLittleMemoryTheAutomaticMethodPivotsIncrementally) {
  const DenseSystem<double> system = random_system<double>(600, 600, 1, 7);
  SolverOptions options = small_options(Method::automatic);
  options.tile = 100;
  options.condition = false;
  const auto solved = [&](Bytes memory) {
    options.memory = memory;
    Solver solver(options);
    static_cast<void>(solution(solver, system));
    return solver.report();
  };
  EXPECT_EQ(solved(64_MiB).method, Method::lu);
  // The least memory in which there is a solution.
  for (Bytes memory = 4_MiB; memory < 64_MiB; memory += 256_KiB) try {
      const SolveReport report = solved(memory);
      EXPECT_EQ(report.method, Method::lu_incremental) << memory;
      EXPECT_TRUE(contains(report.method_reason, "; memory is too small for the columns of tiles"))
          << report.method_reason;
      return;
    } catch (const FootprintError&) {
    } catch (const ConfigError&) {
    }
}

TEST(UnsuitableSystems, SinglePrecisionHasSixDigits) {
  const DenseSystem<float> system = symmetric_system<float>(20, 1, 1);
  SolverOptions options = small_options(Method::automatic);
  options.required_digits = 7;
  Solver solver(options);
  EXPECT_THROW(
      static_cast<void>(solver.solve({.elements = system.a.data(), .rows = 20, .columns = 20}, system.b)),
      UsageError);
}

TEST(UnsuitableSystems, NothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  DenseSystem<double> system = hilbert_system(9);
  SolverOptions options = small_options(Method::automatic);
  options.refine = true;
  Solver solver(options);
  static_cast<void>(solution(solver, system));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(solver.report().warnings.empty());
}

}  // namespace
}  // namespace fairlead::linalg
