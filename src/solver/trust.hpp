// How much of a solution can be trusted, in figures and in words.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/scalar.hpp"
#include "report/run_report.hpp"
#include "solver/linear_system.hpp"

namespace fairlead::solver {

/// The precisions of a solve. A result whose backward error is above the limit is wrong.
struct SolvePrecision {
  double epsilon;          ///< of the precision of the computation
  double given_epsilon;    ///< of the file that the solution goes to
  bool can_refine = true;  ///< whether the method supports --refine
};

/// Of a solve in T by this method. `solution`: the elements of the solution's file.
template <class T>
SolvePrecision precision_of(const DenseOperation& method, ElementType solution) noexcept {
  return {.epsilon = epsilon_of_scalar<T>,
          .given_epsilon = is_single(solution) ? epsilon_of_scalar<float> : epsilon_of_scalar<double>,
          .can_refine = method.solve->symmetric && !method.solve->grows};
}

/// How many digits the solution's file has.
int all_digits(const SolvePrecision& precision);

/// `error`: the bound of || x - true x || / || x || for the x that was computed; infinite if there is none.
report::ConditionReport condition_report(double condition, double error, const SolvePrecision& precision);

/// The bound of a least squares solution of smallest norm, by Wedin (1973): the condition counts twice where
/// much is left of b. For a matrix of m rows whose condition is that of the singular values that count.
double normwise_least_squares_error(std::int64_t m, double condition, double backward_error,
                                    double size_to_residual);

/// Whether a square matrix is numerically singular: the condition is 1 / epsilon or more, and no digit is
/// certain. The condition alone would include graded matrices, whose solutions have all digits.
bool is_singular(const report::ConditionReport& condition, const SolvePrecision& precision);

/// The warning for a solution with less than a third of its digits; else empty.
std::string condition_warning(const report::ConditionReport& condition, const SolvePrecision& precision);
/// The same for least squares. `size_to_residual`: || A || || x || / || b - A x ||.
std::string least_squares_warning(const report::ConditionReport& condition, double size_to_residual,
                                  const SolvePrecision& precision);

/// The warning for factors of a matrix whose condition is at least 1 / epsilon.
std::string singular_factors_warning(double condition);
/// The warning for factors with which a solution has that backward error, which is above the limit.
std::string grown_factors_warning(double backward_error);
/// The warning for solutions with kept factors, whose errors are not estimated: the condition leaves less than a third of
/// the digits. Else empty.
std::string kept_factors_warning(double condition, double epsilon);

/// Why a solution is not written although its backward error is right; nothing if it is written.
std::optional<std::string> distrusted(const std::optional<report::ConditionReport>& condition,
                                      std::optional<int> required_digits);

/// Why a result is unusable: its backward error is above the limit, or it is distrusted(); nothing if it is
/// right.
std::optional<std::string> wrong_answer(const report::RunReport& report);
/// The same for a solve, before there is a report.
std::optional<std::string> wrong_answer(const LinearSystem& system, const SolveOptions& options,
                                        const SolveResult& result);

}  // namespace fairlead::solver
