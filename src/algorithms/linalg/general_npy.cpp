// In the order of the file: bands of rows, or of columns.
#include "algorithms/linalg/general_npy.hpp"

#include <fairlead/codelet.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fairlead::linalg {

template <class T>
void GeneralNpy<T>::submit(Flow& flow, const TiledMatrix<T>& tiles) {
  const auto read_tile = codelet("read").cpu(
      [this](Out<Tile<T>> tile, std::int64_t row, std::int64_t column) { read(tile, row, column); });
  const std::int64_t side = tiles.tile();
  const bool by_columns = file_->order() == data::StorageOrder::fortran;
  const std::int32_t outer = by_columns ? tiles.tile_columns() : tiles.tile_rows(),
                     inner = by_columns ? tiles.tile_rows() : tiles.tile_columns();
  for (std::int32_t o = 0; o < outer; ++o)
    for (std::int32_t i = 0; i < inner; ++i) {
      const std::int32_t row = by_columns ? i : o, column = by_columns ? o : i;
      flow.submit(read_tile(tiles(row, column), row * side, column * side));
    }
}

template <class T>
void GeneralNpy<T>::read(const TileView<T>& tile, std::int64_t row, std::int64_t column) {
  {
    const auto lease = staging_.lease();
    file_->read_block<T>(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(tile.rows()),
                         static_cast<std::uint64_t>(column), static_cast<std::uint64_t>(tile.columns()),
                         tile.data(), static_cast<std::uint64_t>(tile.leading_dimension()), lease.bytes());
  }
  double largest = 0;
  for (int j = 0; j < tile.columns(); ++j)
    for (int i = 0; i < tile.rows(); ++i) {
      const T value = tile(i, j);
      if (!std::isfinite(value))
        throw NumericalError(fmt::format("{}: the element in row {}, column {} (counted from 0) is {}",
                                         file_->path().string(), row + i, column + j,
                                         std::isnan(value) ? "not a number (NaN)" : "infinite"));
      largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
  double before = largest_.load(std::memory_order_relaxed);
  while (before < largest && !largest_.compare_exchange_weak(before, largest, std::memory_order_relaxed))
    continue;
}

template class GeneralNpy<float>;
template class GeneralNpy<double>;

}  // namespace fairlead::linalg
