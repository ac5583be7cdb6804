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

/// The forward error: the condition times the backward error, and times what rounds in computing that.
report::ConditionReport condition_report(std::int64_t n, double condition, double backward_error,
                                         const Precision& precision);

/// The same for least squares, from the condition of the triangle R. `size_beside_residual`: || A || || x || beside
/// || r ||, where r is what is left of b. Where much is left the condition counts twice: Wedin 1973
/// ("Perturbation theory for pseudo-inverses").
report::ConditionReport least_squares_condition_report(std::int64_t m, double condition,
                                                       double backward_error, double size_beside_residual,
                                                       const Precision& precision);

/// What to tell a user whose solution has lost half of its digits or more; else nothing.
std::string condition_warning(const report::ConditionReport& condition, const Precision& precision);

/// What is wrong with a result whose backward error is above the limit; nothing if none is.
std::optional<std::string> wrong_answer(const report::RunReport& report);

}  // namespace fairlead::app
