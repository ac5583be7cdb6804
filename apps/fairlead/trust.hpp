// How much of a solution can be trusted, in figures and in words.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "report/run_report.hpp"

namespace fairlead::app {

/// What there is to judge by. A result whose backward error is above the limit is wrong.
struct Precision {
  double epsilon;          ///< of the precision that is asked for
  double given_epsilon;    ///< of the file that the solution goes to
  bool can_refine = true;  ///< --refine goes with the method
};

/// How many digits the solution's file has.
int all_digits(const Precision& precision);

/// `error`: the bound of || x - true x || / || x || for the x that was computed; infinite if there is none.
report::ConditionReport condition_report(double condition, double error, const Precision& precision);

/// The bound of a least squares solution of smallest norm, by Wedin (1973): the condition counts twice where much is left of b.
/// For a matrix of m rows whose condition is that of the singular values that count.
double normwise_least_squares_error(std::int64_t m, double condition, double backward_error,
                                    double size_beside_residual);

/// Whether a square matrix cannot be told from a singular one: the condition is 1 / epsilon or more, and no digit is certain.
/// By the condition alone, graded matrices would be, whose solutions have all digits.
bool is_singular(const report::ConditionReport& condition, const Precision& precision);

/// What to tell a user whose solution has less than a third of its digits; else nothing.
std::string condition_warning(const report::ConditionReport& condition, const Precision& precision);
/// The same for least squares. `size_beside_residual`: || A || || x || / || b - A x ||.
std::string least_squares_warning(const report::ConditionReport& condition, double size_beside_residual,
                                  const Precision& precision);

/// Why a solution whose backward error is right is not given all the same; nothing if it is.
std::optional<std::string> distrusted(const std::optional<report::ConditionReport>& condition,
                                      std::optional<int> required_digits);

/// Why a result is not to be used: its backward error is above the limit, or it is distrusted(); nothing if it is right.
std::optional<std::string> wrong_answer(const report::RunReport& report);

}  // namespace fairlead::app
