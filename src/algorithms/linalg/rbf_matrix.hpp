// The kernel matrix of Gaussian process regression. It is not stored: elements are computed from the points.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fairlead/matrix_source.hpp>

namespace fairlead::linalg {

/// K[i, j] = exp(-|x_i - x_j|^2 / (2 l^2)), plus a nugget on the diagonal: symmetric, and positive definite if the
/// nugget is positive. Rasmussen, Williams 2006, equation 2.31. Thread-safe.
class RbfMatrix final : public MatrixSource<double> {
 public:
  struct Points {
    std::int64_t count = 0, dimensions = 0;
    std::vector<double> coordinates;  ///< column-major: the first coordinate of all points, then the second
  };
  /// Throws UsageError if the length scale is not positive or the nugget is negative.
  RbfMatrix(Points points, double length_scale, double nugget);

  /// The memory for the points.
  std::size_t bytes() const noexcept { return points_.coordinates.size() * sizeof(double); }
  std::int64_t rows() const override { return points_.count; }
  std::int64_t columns() const override { return points_.count; }
  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count,
            double* out, std::int64_t ld) const override;

 private:
  Points points_;
  double factor_;  // -1 / (2 l^2)
  double nugget_;
};

}  // namespace fairlead::linalg
