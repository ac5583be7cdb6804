// See least_squares.hpp.
#include "report/least_squares.hpp"

#include <fmt/format.h>

namespace fairlead::report {

namespace {
constexpr double not_seen = 0.005;  // invisible in a figure with three digits
}

std::string text_of(const NumericalRank& rank) {
  std::string text = fmt::format("{} of {} {}{} {} independent at a tolerance of {:.1e}", rank.rank,
                                 rank.columns, rank.of_rows ? "row" : "column", rank.columns == 1 ? "" : "s",
                                 rank.rank == 1 ? "is" : "are", rank.tolerance);
  if (!rank.values) return text;
  const auto& values = *rank.values;
  text += rank.rank == 0
              ? fmt::format(" (no singular value above {:.1e})", values.largest_dropped)
              : fmt::format(
                    " (singular values {:.3g} to {:.3g}{})", values.largest, values.smallest_kept,
                    rank.is_reduced() ? fmt::format(", then at most {:.1e}", values.largest_dropped) : "");
  if (rank.is_reduced()) text += "; of all nearest x it is the smallest";
  return text;
}

std::string text_of(const LeastSquaresResidual& residual, bool rank_is_reduced) {
  const std::string text = fmt::format("|| b - A x || is {:.3g} of || b ||", residual.relative);
  const char* const matrix = rank_is_reduced ? " with a matrix of that rank" : "";
  if (residual.relative == 0 || residual.excess <= not_seen * residual.relative)
    return fmt::format("{}, and could not be less{}", text, matrix);
  return fmt::format("{}, and could be less by {:.1e} at most{}", text, residual.excess, matrix);
}

}  // namespace fairlead::report
