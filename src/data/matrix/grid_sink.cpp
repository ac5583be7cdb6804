// Converts elements and copies them into tiles.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/scalar.hpp"
#include "data/matrix/tile_grid.hpp"

namespace fairlead::data {
namespace {

template <class T, class Stored, bool swapped>
T load(const std::byte* elements, std::uint64_t at) noexcept {
  Stored value;
  if constexpr (swapped) {
    // Each part of a complex number has its own byte order.
    constexpr std::size_t part = sizeof(RealOf<Stored>);
    std::byte turned[sizeof(Stored)];
    for (std::size_t i = 0; i < sizeof(Stored); i += part)
      std::reverse_copy(elements + at * sizeof(Stored) + i, elements + at * sizeof(Stored) + i + part,
                        turned + i);
    std::memcpy(&value, turned, sizeof(Stored));
  } else {
    std::memcpy(&value, elements + at * sizeof(Stored), sizeof(Stored));
  }
  return scalar_cast<T>(value);
}

/// Copies the rows [row, row_end) and columns [column, column_end) of the block, all in one tile, to `tile`, the
/// address of element (row, column).
template <class T, class Stored, bool swapped>
void copy_to_tile(const ElementBlock& where, const StoredElements& from, std::uint64_t row,
                  std::uint64_t row_end, std::uint64_t column, std::uint64_t column_end, T* tile,
                  std::uint64_t ld) noexcept {
  if (from.order == StorageOrder::fortran) {
    for (auto j = column; j < column_end; ++j) {
      const std::byte* const line =
          from.first + ((j - where.column) * from.stride + (row - where.row)) * sizeof(Stored);
      T* const to = tile + (j - column) * ld;
      if constexpr (std::is_same_v<T, Stored> && !swapped)
        std::memcpy(to, line, (row_end - row) * sizeof(T));
      else
        for (std::uint64_t i = 0; i < row_end - row; ++i) to[i] = load<T, Stored, swapped>(line, i);
    }
    return;
  }
  // Few rows at a time, so that their cache lines stay cached while the loop goes over the columns.
  constexpr std::uint64_t few = 16;
  for (auto first = row; first < row_end; first += few) {
    const auto last = std::min(first + few, row_end);
    for (auto j = column; j < column_end; ++j)
      for (auto i = first; i < last; ++i)
        tile[(i - row) + (j - column) * ld] =
            load<T, Stored, swapped>(from.first, (i - where.row) * from.stride + (j - where.column));
  }
}

template <class T, class Stored, bool swapped>
void copy_to_grid(const ElementBlock& where, const StoredElements& from, const TileGrid<T>& grid,
                  std::uint64_t tiles_in_column) noexcept {
  const auto row_end = where.row + where.row_count, column_end = where.column + where.column_count;
  for (auto column = where.column; column < column_end;) {
    const auto tile_j = column / grid.tile_columns;
    const auto next_column = std::min(column_end, (tile_j + 1) * grid.tile_columns);
    for (auto row = where.row; row < row_end;) {
      const auto tile_i = row / grid.tile_rows;
      const auto next_row = std::min(row_end, (tile_i + 1) * grid.tile_rows);
      if (T* tile = grid.tiles[tile_j * tiles_in_column + tile_i])
        copy_to_tile<T, Stored, swapped>(
            where, from, row, next_row, column, next_column,
            tile + (row - tile_i * grid.tile_rows) + (column - tile_j * grid.tile_columns) * grid.ld,
            grid.ld);
      row = next_row;
    }
    column = next_column;
  }
}

}  // namespace

template <class T>
void GridSink<T>::put(const ElementBlock& where, const StoredElements& elements) {
  with_scalar(elements.element, [&]<class Stored>() {
    if constexpr (is_complex_number<T> || !is_complex_number<Stored>) {
      const auto copy =
          elements.byte_swapped ? copy_to_grid<T, Stored, true> : copy_to_grid<T, Stored, false>;
      copy(where, elements, grid_, tiles_in_column_);
    }
  });
}

template class GridSink<float>;
template class GridSink<double>;
template class GridSink<std::complex<float>>;
template class GridSink<std::complex<double>>;

}  // namespace fairlead::data
