// Checks the arguments of reads.
#include "data/matrix/stored_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fairlead/error.hpp>

#include "base/scalar.hpp"

namespace fairlead::data {

template <class T>
void StoredMatrix::read_tiles(std::uint64_t row, std::uint64_t row_count, std::uint64_t column,
                              std::uint64_t column_count, const TileGrid<T>& grid,
                              std::span<std::byte> staging) const {
  if (row > rows() || row_count > rows() - row || column > columns() || column_count > columns() - column)
    throw UsageError(fmt::format("{}: the {} x {} elements from ({}, {}) on are not inside of the matrix, {}",
                                 name_, row_count, column_count, row, column, shape_text(shape())));
  if constexpr (!is_complex_number<T>) require_real(*this);
  if (row_count == 0 || column_count == 0) return;
  const auto tiles = [](std::uint64_t count, std::uint64_t tile) { return (count + tile - 1) / tile; };
  if (grid.tile_rows == 0 || grid.tile_columns == 0 || grid.ld < std::min(grid.tile_rows, row_count) ||
      grid.tiles.size() < tiles(row_count, grid.tile_rows) * tiles(column_count, grid.tile_columns))
    throw UsageError(
        fmt::format("{}: the tiles do not hold {} x {} elements", name_, row_count, column_count));

  std::unique_ptr<std::byte[]> own;
  if (staging.empty()) {
    own = std::make_unique_for_overwrite<std::byte[]>(staging_bytes);
    staging = {own.get(), staging_bytes};
  }
  if (staging.size() < bytes_of(element()))
    throw UsageError(fmt::format("{}: the staging memory holds no element", name_));
  GridSink<T> sink(grid, row_count);
  read({row, row_count, column, column_count}, staging, sink);
}

template void StoredMatrix::read_tiles<float>(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                              const TileGrid<float>&, std::span<std::byte>) const;
template void StoredMatrix::read_tiles<double>(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                               const TileGrid<double>&, std::span<std::byte>) const;
template void StoredMatrix::read_tiles<std::complex<float>>(std::uint64_t, std::uint64_t, std::uint64_t,
                                                            std::uint64_t,
                                                            const TileGrid<std::complex<float>>&,
                                                            std::span<std::byte>) const;
template void StoredMatrix::read_tiles<std::complex<double>>(std::uint64_t, std::uint64_t, std::uint64_t,
                                                             std::uint64_t,
                                                             const TileGrid<std::complex<double>>&,
                                                             std::span<std::byte>) const;

void require_real(const StoredMatrix& matrix) {
  if (is_complex(matrix.element()))
    throw InputError(fmt::format("{}: holds complex numbers; real ones are needed here", matrix.name()));
}

ArrayLayout StoredMatrix::transposed_layout() const {
  ArrayLayout other = layout_;
  other.order = order() == StorageOrder::c ? StorageOrder::fortran : StorageOrder::c;
  std::ranges::reverse(other.shape);
  return other;
}

}  // namespace fairlead::data
