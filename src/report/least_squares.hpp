// The figures of a least squares problem in a report: the numerical rank, and the residual.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace fairlead::report {

/// The number of linearly independent columns of the matrix, or rows if there are fewer.
struct NumericalRank {
  std::int64_t rank = 0, columns = 0;
  bool of_rows = false;  ///< `columns` is the number of rows
  double tolerance = 0;  ///< singular values of at most this fraction of the largest count as zero
  struct SingularValues {
    double largest = 0, smallest_kept = 0, largest_dropped = 0;
  };
  std::optional<SingularValues> values{};  ///< none: bounds of them were sufficient

  bool is_reduced() const noexcept { return rank < columns; }
};

struct LeastSquaresResidual {
  double relative = 0;  ///< || b - A x || / || b ||, the largest over the columns of b
  double excess = 0;    ///< upper bound of the reduction that another x could achieve
};

/// "3 of 5 columns are independent (...)".
std::string text_of(const NumericalRank& rank);
/// "|| b - A x || is 0.1 of || b ||, and could not be less"; the second part only if it is known.
std::string text_of(const LeastSquaresResidual& residual, bool rank_is_reduced);

}  // namespace fairlead::report
