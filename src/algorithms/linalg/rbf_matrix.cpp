// Computes elements by columns: squared distances, one coordinate at a time, then the exponentials.
#include "algorithms/linalg/rbf_matrix.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace fairlead::linalg {

RbfMatrix::RbfMatrix(Points points, double length_scale, double nugget)
    : points_(std::move(points)), factor_(-0.5 / (length_scale * length_scale)), nugget_(nugget) {
  if (!(length_scale > 0) || !std::isfinite(factor_))
    throw UsageError(fmt::format("the length scale {} of a kernel matrix is too close to 0", length_scale));
  if (!(nugget >= 0)) throw UsageError(fmt::format("the nugget {} of a kernel matrix is negative", nugget));
}

void RbfMatrix::read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count,
                     double* out, std::int64_t ld) const {
  for (std::int64_t j = column; j < column + column_count; ++j) {
    double* const values = out + (j - column) * ld;
    std::fill_n(values, row_count, 0.0);
    for (std::int64_t d = 0; d < points_.dimensions; ++d) {
      const double* const coordinate = points_.coordinates.data() + d * points_.count;
      const double here = coordinate[j];
      for (std::int64_t i = 0; i < row_count; ++i) {
        const double difference = coordinate[row + i] - here;
        values[i] += difference * difference;
      }
    }
    for (std::int64_t i = 0; i < row_count; ++i) values[i] = std::exp(factor_ * values[i]);
    if (j >= row && j < row + row_count) values[j - row] += nugget_;
  }
}

}  // namespace fairlead::linalg
