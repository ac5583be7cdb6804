// See loss_in_single.hpp.
#include "solver/loss_in_single.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace fairlead::solver {

std::vector<std::int64_t> columns_below_single(const double* b, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> below;
  for (std::int64_t c = 0; c < columns; ++c)
    if (std::ranges::all_of(std::span(b + c * rows, static_cast<std::size_t>(rows)), [](double value) {
          return std::abs(value) < static_cast<double>(std::numeric_limits<float>::min());
        }))
      below.push_back(c);
  return below;
}

double lost_in_single(const double* x, std::int64_t rows, std::int64_t columns,
                      const std::vector<std::int64_t>& left_out) {
  double most = 0;
  for (std::int64_t c = 0; c < columns; ++c) {
    if (std::ranges::binary_search(left_out, c)) continue;
    double size = 0, lost = 0;
    for (const double value : std::span(x + c * rows, static_cast<std::size_t>(rows))) {
      size = std::max(size, std::abs(value));
      lost = std::max(lost, std::abs(value - static_cast<double>(static_cast<float>(value))));
    }
    // Small numbers in a column of large ones may vanish: errors are relative to the size of the column, as
    // in x.
    if (size > 0) most = std::max(most, lost / size);
  }
  return most;
}

}  // namespace fairlead::solver
