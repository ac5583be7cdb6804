// See over_ranks.hpp.
#include "algorithms/linalg/over_ranks.hpp"

#include <fairlead/gather.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fairlead::linalg {

template <class T>
std::vector<T> gathered(Runtime& runtime, const TiledMatrix<T>& matrix) {
  std::vector<T> all(static_cast<std::size_t>(matrix.rows() * matrix.columns()));
  gather(runtime, matrix, all.data(), matrix.rows());
  return all;
}

void largest_of_ranks(Runtime& runtime, std::span<double> numbers) {
  const std::vector<double> all = gather(runtime, numbers);
  for (std::size_t i = 0; i < all.size(); ++i) {
    double& so_far = numbers[i % numbers.size()];
    so_far = std::isnan(all[i]) || std::isnan(so_far) ? std::numeric_limits<double>::quiet_NaN()
                                                      : std::max(so_far, all[i]);
  }
}

template std::vector<float> gathered<float>(Runtime&, const TiledMatrix<float>&);
template std::vector<double> gathered<double>(Runtime&, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
