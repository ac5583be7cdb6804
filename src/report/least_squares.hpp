// What a report has of a least squares problem: how many columns are independent, and how much is left of b.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace fairlead::report {

/// How many columns of the matrix are independent.
struct NumericalRank {
  std::int64_t rank = 0, columns = 0;
  double tolerance = 0;  ///< singular values of at most so much of the largest count as zero
  struct SingularValues {
    double largest = 0, smallest_kept = 0, largest_dropped = 0;
  };
  std::optional<SingularValues> values{};  ///< none: bounds of them sufficed

  bool is_reduced() const noexcept { return rank < columns; }
};

struct LeastSquaresResidual {
  double relative = 0;  ///< || b - A x || / || b ||, the largest over the columns of b
  double excess = 0;    ///< by how much another x could make that smaller, at most
};

/// "3 of 5 columns are independent (...)".
std::string text_of(const NumericalRank& rank);
/// "|| b - A x || is 0.1 of || b ||, and could not be less": the latter only where that is known.
std::string text_of(const LeastSquaresResidual& residual, bool rank_is_reduced);

}  // namespace fairlead::report
