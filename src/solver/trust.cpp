// The forward error of LAPACK's xPORFS and xGERFS, as a number and in words:
//
//   || x - true x || / || x ||  <=  || | A^-1 | ( | r | + k u ( | A | | x | + | b | ) ) || / || x ||
//
// in the infinity norm, where r = b - A x as computed, u is a half of 2^-52, and k says how well it was
// computed: LAPACK has n + 1, the number of roundings in a plain sum; sums here are compensated, and k is 8
// to 30 (BackwardError). So the bound holds always, as far as A^-1 is known, and rests on no assumption about
// roundings.
#include "solver/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fairlead::solver {

namespace {

/// Decimal digits that a relative error leaves.
int digits(double error) {
  if (!(error < 1)) return 0;
  return static_cast<int>(std::floor(-std::log10(std::max(error, 1e-17))));
}

std::string trusted_digits(int trusted, int all) {
  return trusted == 0 ? "no digit of the solution can be trusted"
                      : fmt::format("trust the first {} of the solution's {} digits",
                                    trusted == 1 ? "digit" : fmt::format("{}", trusted), all);
}

bool needs_warning(const report::ConditionReport& condition, const SolvePrecision& precision) {
  return !condition.singular && 3 * condition.digits < all_digits(precision);
}

/// Whether the bound follows from the condition: it is at most a few hundred roundings times the condition,
/// unless numbers of a right-hand side or its solution are so small that they have lost digits.
bool follows_from_condition(const report::ConditionReport& condition, const SolvePrecision& precision,
                            double times = 1) {
  constexpr double most_roundings = 1e4;
  return !(most_roundings * precision.epsilon * condition.number * times <
           std::min(condition.forward_error, 1.0));
}

const char* smallest_with_all_digits(bool single) { return single ? "1e-37" : "1e-307"; }

std::string moved_by(double error) {
  return std::isfinite(error) ? fmt::format("by up to {:.0e} of its size", error) : "altogether";
}

}  // namespace

int all_digits(const SolvePrecision& precision) { return digits(precision.given_epsilon); }

report::ConditionReport condition_report(double condition, double error, const SolvePrecision& precision) {
  report::ConditionReport report;
  report.number = condition;
  const bool rounded_in_file = precision.given_epsilon > precision.epsilon;
  const double of_computed = error + (rounded_in_file ? precision.given_epsilon / 2 : 0);
  // Relative to the true x, whose size is at least 1 - `of_computed` times that of the computed one.
  report.forward_error = of_computed < 1 ? of_computed / (1 - of_computed) : HUGE_VAL;
  report.digits = std::min(digits(report.forward_error), all_digits(precision));
  return report;
}

double normwise_least_squares_error(std::int64_t m, double condition, double backward_error,
                                    double size_to_residual) {
  // The residual was computed in double precision: sqrt(m) roundings more.
  const double off =
      backward_error + std::sqrt(static_cast<double>(m)) * std::numeric_limits<double>::epsilon() / 2;
  return 2 * condition * (1 + condition / size_to_residual) * off;
}

bool is_singular(const report::ConditionReport& condition, const SolvePrecision& precision) {
  return condition.digits == 0 && !(condition.number < 1 / precision.epsilon);
}

std::string condition_warning(const report::ConditionReport& condition, const SolvePrecision& precision) {
  if (!needs_warning(condition, precision)) return {};
  if (!follows_from_condition(condition, precision))
    return fmt::format(
        "numbers of a right-hand side, or of its solution, are so small that they have lost digits (below "
        "{}): {}, in the worst "
        "column. The matrix is not the reason (condition {:.0e} in the {})",
        smallest_with_all_digits(precision.given_epsilon > 1e-10),
        trusted_digits(condition.digits, all_digits(precision)), condition.number, condition.norm());
  return fmt::format(
      "the matrix is ill-conditioned (condition {:.0e} in the {}): {}. The equations hold to "
      "rounding, "
      "but a change of A or b by rounding alone may move the solution {}{}",
      condition.number, condition.norm(), trusted_digits(condition.digits, all_digits(precision)),
      moved_by(condition.forward_error),
      precision.epsilon <= 1e-10 ? ""
      : precision.can_refine     ? "; --refine computes in double precision"
                                 : "; files in double precision give digits back");
}

std::string singular_factors_warning(double condition) {
  return fmt::format(
      "the matrix is singular to rounding (condition {:.0e}): no digit of a solution with its factors may be "
      "right",
      condition);
}

std::string grown_factors_warning(double backward_error) {
  return fmt::format(
      "elements grew in the factorization: a solution with these factors alone has a backward error of "
      "{:.1e}",
      backward_error);
}

std::string kept_factors_warning(double condition, double epsilon) {
  const double error = condition * epsilon;
  if (!(error < 1)) return singular_factors_warning(condition);
  const int left = digits(error), all = digits(epsilon);
  if (3 * left >= all) return {};
  return fmt::format(
      "the matrix is ill-conditioned (condition {:.0e}): {} of a solution with its factors may be right",
      condition,
      left == 0   ? std::string("no digit")
      : left == 1 ? std::string("only one digit")
                  : fmt::format("only {} digits", left));
}

std::string least_squares_warning(const report::ConditionReport& condition, double size_to_residual,
                                  const SolvePrecision& precision) {
  constexpr double much_residual = 1000;
  if (!needs_warning(condition, precision)) return {};
  if (size_to_residual * much_residual > 1) {
    // The errors that the residual causes are bounded componentwise, by up to the square of the condition.
    const bool has_residual = size_to_residual * std::sqrt(precision.epsilon) < 1;
    const double times = has_residual ? condition.number : 1;
    if (follows_from_condition(condition, precision) || !follows_from_condition(condition, precision, times))
      return condition_warning(condition, precision);
    return fmt::format(
        "the least squares problem is ill-conditioned: the residual is not small (|| A || || x || is {:.0e} "
        "of "
        "it), so the condition of the matrix ({:.0e} in the {}) counts squared: {}",
        size_to_residual, condition.number, condition.norm(),
        trusted_digits(condition.digits, all_digits(precision)));
  }
  return fmt::format(
      "b is nearly orthogonal to the columns of the matrix: || A || || x || is {:.0e} of || b - A x ||, so "
      "rounding in b "
      "alone may move the solution {}: {}",
      size_to_residual, moved_by(condition.forward_error),
      trusted_digits(condition.digits, all_digits(precision)));
}

std::optional<std::string> distrusted(const std::optional<report::ConditionReport>& condition,
                                      std::optional<int> required_digits) {
  if (condition && condition->singular)
    return fmt::format(
        "the matrix is singular to rounding: its condition in the {} is {}, and no digit of the "
        "solution can "
        "be trusted",
        condition->norm(),
        std::isfinite(condition->number) ? fmt::format("{:.0e} or more", condition->number)
                                         : "too large for its type");
  const int trusted = condition ? condition->digits : 0;
  if (required_digits && trusted < *required_digits)
    return fmt::format("{} digit{} of the solution can be trusted, and --require-digits asks for {}",
                       trusted == 0 ? "no" : fmt::format("{}", trusted), trusted == 1 ? "" : "s",
                       *required_digits);
  return std::nullopt;
}

namespace {

/// What decides whether a result is wrong, as in RunReport and SolveResult.
struct JudgedResult {
  double backward_error, limit;
  const std::optional<report::ConditionReport>& condition;
  std::optional<int> required_digits;
  std::string changed_input;
  bool lost_in_file;
  std::optional<double> asymmetry, growth;
  bool in_single;
};

std::optional<std::string> wrong_answer(const JudgedResult& report) {
  const double error = report.backward_error, limit = report.limit;
  if (error <= limit) return distrusted(report.condition, report.required_digits);
  if (!report.changed_input.empty())
    return fmt::format(
        "the result is wrong: {} has changed while it was read, so what was solved was never in it",
        report.changed_input);
  constexpr double much_growth = 10;
  if (report.lost_in_file)
    return "the result is wrong: its numbers are too large or too small for single precision, the type of "
           "both input files. With one of them in double precision the solution is in double, too";
  if (!std::isfinite(error))
    return "the result is wrong: it is not finite. The matrix is too close to singular, or its numbers are "
           "too large or too small, for this precision";
  if (report.asymmetry)
    return fmt::format(
        "the result is wrong: its backward error is {:.1e}, above the limit of {:.1e}. The triangles of A "
        "differ by {:.1e}, and refinement with the factor of the lower one does not make up for that: "
        "--method lu solves with A as it is, --symmetrize with the mean of the triangles",
        error, limit, *report.asymmetry);
  if (report.growth && !(*report.growth < much_growth))
    return fmt::format(
        "the result is wrong: its backward error is {:.1e}, above the limit of {:.1e}. In the factorization "
        "elements grew by {:.1e}: --method qr avoids that",
        error, limit, *report.growth);
  return fmt::format(
      "the result is wrong: its backward error is {:.1e}, above the limit of {:.1e}. If neither the matrix "
      "nor the right-hand sides have numbers so small that they lose digits (below {}), a disk, the memory "
      "or a library has failed: try again, and with another --blas",
      error, limit, smallest_with_all_digits(report.in_single));
}

}  // namespace

std::optional<std::string> wrong_answer(const report::RunReport& report) {
  const double error = report.backward_error.value_or(0);
  return wrong_answer(JudgedResult{.backward_error = error,
                                   .limit = report.backward_error_limit.value_or(error),
                                   .condition = report.condition,
                                   .required_digits = report.required_digits,
                                   .changed_input = report.changed_input,
                                   .lost_in_file = report.lost_in_file.has_value(),
                                   .asymmetry = report.asymmetry,
                                   .growth = report.growth,
                                   .in_single = report.element.ends_with("FP32")});
}

std::optional<std::string> wrong_answer(const LinearSystem& system, const SolveOptions& options,
                                        const SolveResult& result) {
  return wrong_answer(JudgedResult{.backward_error = result.is_checked ? result.backward_error : 0,
                                   .limit = result.backward_error_limit,
                                   .condition = result.condition,
                                   .required_digits = options.required_digits,
                                   .changed_input = system.changed_input(),
                                   .lost_in_file = result.lost_in_file.has_value(),
                                   .asymmetry = result.asymmetry,
                                   .growth = result.growth,
                                   .in_single = is_single(result.problem.element)});
}

}  // namespace fairlead::solver
