// See collectives.hpp.
#include "algorithms/linalg/collectives.hpp"

#include <fairlead/gather.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/larger.hpp"

namespace fairlead::linalg {

namespace {
// A tile of a band of 256 rows is then 16 KiB, which fits into any memory that suffices for the matrix.
constexpr std::int64_t max_band_columns = 8;
}  // namespace

template <class T>
std::vector<T> allgather(Runtime& runtime, const TiledMatrix<T>& matrix) {
  std::vector<T> all(static_cast<std::size_t>(matrix.rows() * matrix.columns()));
  gather(runtime, matrix, all.data(), matrix.rows());
  return all;
}

template <class T>
void allgather_bands(Runtime& runtime, T* all, std::int64_t rows, std::int64_t columns, std::int32_t band,
                     std::uint32_t by) {
  if (runtime.ranks() == 1) return;
  const Distribution computed(
      [by](std::int32_t row, std::int32_t) { return static_cast<std::uint32_t>(row) % by; });
  const TileSize size(band, static_cast<std::int32_t>(std::min<std::int64_t>(columns, max_band_columns)));
  DistributedColumns<T>(runtime, "bands", all, rows, columns, size, &computed).gather();
}

void allreduce_max(Runtime& runtime, std::span<double> numbers) {
  if (runtime.ranks() == 1) return;
  const std::vector<double> all = gather(runtime, numbers);
  for (std::size_t i = 0; i < all.size(); ++i) {
    double& so_far = numbers[i % numbers.size()];
    so_far = larger(so_far, all[i]);
  }
}

template std::vector<float> allgather<float>(Runtime&, const TiledMatrix<float>&);
template std::vector<double> allgather<double>(Runtime&, const TiledMatrix<double>&);
template void allgather_bands<float>(Runtime&, float*, std::int64_t, std::int64_t, std::int32_t,
                                     std::uint32_t);
template void allgather_bands<double>(Runtime&, double*, std::int64_t, std::int64_t, std::int32_t,
                                      std::uint32_t);
template void allgather_bands<std::complex<float>>(Runtime&, std::complex<float>*, std::int64_t, std::int64_t,
                                                   std::int32_t, std::uint32_t);
template void allgather_bands<std::complex<double>>(Runtime&, std::complex<double>*, std::int64_t,
                                                    std::int64_t, std::int32_t, std::uint32_t);

}  // namespace fairlead::linalg
