// See loss_in_single.hpp.
#include "solver/loss_in_single.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <limits>
#include <span>

#include "base/scalar.hpp"

namespace fairlead::solver {

template <class Wide>
std::vector<std::int64_t> columns_below_single(const Wide* b, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> below;
  for (std::int64_t c = 0; c < columns; ++c)
    if (std::ranges::all_of(std::span(b + c * rows, static_cast<std::size_t>(rows)), [](Wide value) {
          return magnitude(value) < static_cast<double>(std::numeric_limits<float>::min());
        }))
      below.push_back(c);
  return below;
}

template <class Wide>
double lost_in_single(const Wide* x, std::int64_t rows, std::int64_t columns,
                      const std::vector<std::int64_t>& left_out) {
  double most = 0;
  for (std::int64_t c = 0; c < columns; ++c) {
    if (std::ranges::binary_search(left_out, c)) continue;
    double size = 0, lost = 0;
    for (const Wide value : std::span(x + c * rows, static_cast<std::size_t>(rows))) {
      size = std::max(size, magnitude(value));
      lost = std::max(lost, magnitude(value - scalar_cast<Wide>(scalar_cast<SingleOf<Wide>>(value))));
    }
    // Small numbers in a column of large ones may vanish: errors are relative to the size of the column, as
    // in x.
    if (size > 0) most = std::max(most, lost / size);
  }
  return most;
}

#define FAIRLEAD_LOSS_IN_SINGLE_OF(Wide)                                        \
  template double lost_in_single<Wide>(const Wide*, std::int64_t, std::int64_t, \
                                       const std::vector<std::int64_t>&);       \
  template std::vector<std::int64_t> columns_below_single<Wide>(const Wide*, std::int64_t, std::int64_t);
FAIRLEAD_LOSS_IN_SINGLE_OF(double)
FAIRLEAD_LOSS_IN_SINGLE_OF(std::complex<double>)
#undef FAIRLEAD_LOSS_IN_SINGLE_OF

}  // namespace fairlead::solver
