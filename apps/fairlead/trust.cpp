// || x - true x || <= || A^-1 || || b - A x ||. The residual was computed in double precision, so it is off
// by rounding: by sqrt(n) roundings at most, as sums of rounding errors are (Higham, Mary 2019, "A new
// approach to probabilistic rounding error analysis"); n of them, the proved bound, would deny digits that
// are right.
#include "fairlead/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fairlead::app {

namespace {

/// Decimal digits that a relative error leaves.
int digits(double error) {
  if (!(error < 1)) return 0;
  return static_cast<int>(std::floor(-std::log10(std::max(error, 1e-17))));
}

}  // namespace

report::ConditionReport condition_report(std::int64_t n, double condition, double backward_error,
                                         const Precision& precision) {
  constexpr double rounding = std::numeric_limits<double>::epsilon() / 2;
  report::ConditionReport report;
  report.number = condition;
  // The backward error is relative to || A || || x || + || b ||, which is up to twice || A || || x ||.
  const double residual = backward_error + std::sqrt(static_cast<double>(n)) * rounding;
  report.forward_error = 2 * condition * residual + precision.given_epsilon / 2;
  report.digits = digits(report.forward_error);
  return report;
}

report::ConditionReport least_squares_condition_report(std::int64_t m, double condition,
                                                       double backward_error, double size_beside_residual,
                                                       const Precision& precision) {
  auto report =
      condition_report(m, condition * (1 + condition / size_beside_residual), backward_error, precision);
  report.number = condition;
  return report;
}

std::string condition_warning(const report::ConditionReport& condition, const Precision& precision) {
  if (condition.forward_error < std::sqrt(precision.given_epsilon)) return {};
  const int all = digits(precision.given_epsilon);
  const std::string trusted =
      condition.digits == 0
          ? "no digit of the solution can be trusted"
          : fmt::format("trust the first {} of the solution's {} digits",
                        condition.digits == 1 ? "digit" : fmt::format("{}", condition.digits), all);
  return fmt::format(
      "the matrix is ill-conditioned (condition {:.0e}): {}. The equations hold to rounding, but a change of "
      "A or b by rounding alone moves the solution by up to {:.0e} of its size{}",
      condition.number, trusted, condition.forward_error,
      precision.epsilon <= 1e-10 ? ""
      : precision.can_refine     ? "; --refine computes in double precision"
                                 : "; files in double precision give digits back");
}

std::optional<std::string> wrong_answer(const report::RunReport& report) {
  const double error = report.backward_error.value_or(0), limit = report.backward_error_limit.value_or(error);
  if (error <= limit) return std::nullopt;
  if (!report.changed_input.empty())
    return fmt::format(
        "the result is wrong: {} has changed while it was read, so what was solved was never in it",
        report.changed_input);
  constexpr double much_growth = 10;
  if (report.lost_in_file)
    return "the result is wrong: its numbers are too large or too small for single precision, the type of "
           "both files given and so of its own. With one of the two in double precision it is in that";
  if (!std::isfinite(error))
    return "the result is wrong: it is not finite. The matrix is too close to singular, or its numbers are "
           "too large or too small, for this precision";
  if (report.growth && !(*report.growth < much_growth))
    return fmt::format(
        "the result is wrong: its backward error is {:.1e}, and of right ones it is below {:.1e}. In the "
        "factorization elements have grown by {:.1e}: --method qr does not let them",
        error, limit, *report.growth);
  return fmt::format(
      "the result is wrong: its backward error is {:.1e}, and of right ones it is below {:.1e}. If neither "
      "the matrix nor the right-hand sides have numbers so small that they lose digits (below {}), a disk, "
      "the memory or "
      "a library has failed: try again, and with another --blas",
      error, limit, report.element == "FP32" ? "1e-37" : "1e-307");
}

}  // namespace fairlead::app
