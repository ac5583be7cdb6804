// Column by column, in the order of memory. Zeros are not skipped, so that NaN propagates.
#include "algorithms/linalg/plain_product.hpp"

#include <cstddef>

namespace fairlead::linalg::testing {

std::vector<double> plain_product(const std::vector<double>& x, const std::vector<double>& y,
                                  std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  std::vector<double> product(static_cast<std::size_t>(rows * columns));
  for (std::int64_t j = 0; j < columns; ++j) {
    double* const to = product.data() + j * rows;
    for (std::int64_t k = 0; k < inner; ++k) {
      const double factor = y[static_cast<std::size_t>(k + j * inner)];
      const double* const from = x.data() + k * rows;
      for (std::int64_t i = 0; i < rows; ++i) to[i] += from[i] * factor;
    }
  }
  return product;
}

}  // namespace fairlead::linalg::testing
