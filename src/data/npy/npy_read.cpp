// Reads a block of the matrix, independently of the file's order: the file consists of *lines* (rows in C order,
// columns in Fortran order), and a block is a range of elements *along* each of several lines. Chunks of the block
// are read into the staging memory and copied from there to the tiles.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fairlead/error.hpp>
#include <memory>
#include <utility>

#include "data/npy/npy_file.hpp"

namespace fairlead::data {
namespace {

/// A gap between the ranges of neighbouring lines is read too if it has at most this many bytes and is not longer
/// than a range: that is cheaper than another request.
constexpr Bytes gap_worth_reading = 32 * 1024;

/// A rectangle of the block in the staging memory; rows and columns are relative to the block.
struct Chunk {
  std::uint64_t row, row_count, column, column_count;
  std::uint64_t stride;  // elements between starts of lines
  StorageOrder order;
  const std::byte* elements;
};

template <class T, class Stored, bool swapped>
T load(const std::byte* elements, std::uint64_t at) noexcept {
  Stored value;
  if constexpr (swapped) {
    std::byte turned[sizeof(Stored)];
    std::reverse_copy(elements + at * sizeof(Stored), elements + (at + 1) * sizeof(Stored), turned);
    std::memcpy(&value, turned, sizeof(Stored));
  } else {
    std::memcpy(&value, elements + at * sizeof(Stored), sizeof(Stored));
  }
  return static_cast<T>(value);
}

/// Copies the rows [row, row_end) and columns [column, column_end) of the block, all in one tile, to `tile`, the
/// address of element (row, column).
template <class T, class Stored, bool swapped>
void copy_to_tile(const Chunk& chunk, std::uint64_t row, std::uint64_t row_end, std::uint64_t column,
                  std::uint64_t column_end, T* tile, std::uint64_t ld) noexcept {
  if (chunk.order == StorageOrder::fortran) {
    for (auto j = column; j < column_end; ++j) {
      const auto line = (j - chunk.column) * chunk.stride - chunk.row;
      for (auto i = row; i < row_end; ++i)
        tile[(i - row) + (j - column) * ld] = load<T, Stored, swapped>(chunk.elements, line + i);
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
            load<T, Stored, swapped>(chunk.elements, (i - chunk.row) * chunk.stride + (j - chunk.column));
  }
}

template <class T, class Stored, bool swapped>
void copy_to_grid(const Chunk& chunk, const TileGrid<T>& grid, std::uint64_t tiles_in_column) noexcept {
  const auto row_end = chunk.row + chunk.row_count, column_end = chunk.column + chunk.column_count;
  for (auto column = chunk.column; column < column_end;) {
    const auto tile_j = column / grid.tile_columns;
    const auto next_column = std::min(column_end, (tile_j + 1) * grid.tile_columns);
    for (auto row = chunk.row; row < row_end;) {
      const auto tile_i = row / grid.tile_rows;
      const auto next_row = std::min(row_end, (tile_i + 1) * grid.tile_rows);
      if (T* tile = grid.tiles[tile_j * tiles_in_column + tile_i])
        copy_to_tile<T, Stored, swapped>(
            chunk, row, next_row, column, next_column,
            tile + (row - tile_i * grid.tile_rows) + (column - tile_j * grid.tile_columns) * grid.ld,
            grid.ld);
      row = next_row;
    }
    column = next_column;
  }
}

template <class T>
auto copier(const NpyHeader& header) {
  if (header.element == ElementType::float32)
    return header.byte_swapped ? copy_to_grid<T, float, true> : copy_to_grid<T, float, false>;
  return header.byte_swapped ? copy_to_grid<T, double, true> : copy_to_grid<T, double, false>;
}

}  // namespace

template <class T>
void NpyFile::read_tiles(std::uint64_t row, std::uint64_t row_count, std::uint64_t column,
                         std::uint64_t column_count, const TileGrid<T>& grid,
                         std::span<std::byte> staging) const {
  if (row > rows() || row_count > rows() - row || column > columns() || column_count > columns() - column)
    throw UsageError(fmt::format("{}: the {} x {} elements from ({}, {}) on are not inside of the matrix, {}",
                                 path_.string(), row_count, column_count, row, column,
                                 shape_text(header_.shape)));
  if (row_count == 0 || column_count == 0) return;
  const auto tiles = [](std::uint64_t count, std::uint64_t tile) { return (count + tile - 1) / tile; };
  if (grid.tile_rows == 0 || grid.tile_columns == 0 || grid.ld < std::min(grid.tile_rows, row_count) ||
      grid.tiles.size() < tiles(row_count, grid.tile_rows) * tiles(column_count, grid.tile_columns))
    throw UsageError(
        fmt::format("{}: the tiles do not hold {} x {} elements", path_.string(), row_count, column_count));

  std::unique_ptr<std::byte[]> own;
  if (staging.empty()) {
    own = std::make_unique_for_overwrite<std::byte[]>(staging_bytes);
    staging = {own.get(), staging_bytes};
  }
  const Bytes size = bytes_of(element());
  const std::uint64_t capacity = staging.size() / size;  // elements
  if (capacity == 0) throw UsageError(fmt::format("{}: the staging memory holds no element", path_.string()));

  const bool by_rows = order() == StorageOrder::c;
  const auto line_length = by_rows ? columns() : rows();
  const auto first_line = by_rows ? row : column, lines = by_rows ? row_count : column_count;
  const auto first_along = by_rows ? column : row, along = by_rows ? column_count : row_count;
  const auto copy = copier<T>(header_);
  const auto read = [&](std::uint64_t line, std::uint64_t at, std::uint64_t elements, std::uint64_t to) {
    const Bytes offset = header_.data_offset + ((first_line + line) * line_length + first_along + at) * size;
    read_bytes(offset, staging.subspan(to * size, elements * size));
  };
  const auto deliver_from = [&](const std::byte* elements, std::uint64_t line, std::uint64_t line_count,
                                std::uint64_t at, std::uint64_t length, std::uint64_t stride) {
    const Chunk chunk = by_rows ? Chunk{line, line_count, at, length, stride, order(), elements}
                                : Chunk{at, length, line, line_count, stride, order(), elements};
    copy(chunk, grid, tiles(row_count, grid.tile_rows));
  };
  const auto deliver = [&](std::uint64_t line, std::uint64_t line_count, std::uint64_t at,
                           std::uint64_t length, std::uint64_t stride) {
    deliver_from(staging.data(), line, line_count, at, length, stride);
  };
  if (const std::byte* const elements =
          kept(first_line * line_length + first_along, lines, line_length, along))
    return deliver_from(elements, 0, lines, 0, along, line_length);

  if (along > capacity) {  // not even the range of one line fits
    for (std::uint64_t line = 0; line < lines; ++line)
      for (std::uint64_t at = 0; at < along; at += capacity) {
        const auto length = std::min(capacity, along - at);
        read(line, at, length, 0);
        deliver(line, 1, at, length, length);
      }
    return;
  }
  const bool read_gaps = (line_length - along) * size <= gap_worth_reading && line_length - along <= along;
  const auto stride = read_gaps ? line_length : along;
  const auto at_once = 1 + (capacity - along) / stride;
  for (std::uint64_t line = 0; line < lines; line += at_once) {
    const auto count = std::min(at_once, lines - line);
    if (read_gaps) {
      read(line, 0, (count - 1) * stride + along, 0);
    } else {
      for (std::uint64_t i = 0; i < count; ++i) read(line + i, 0, along, i * stride);
    }
    deliver(line, count, 0, along, stride);
  }
}

template void NpyFile::read_tiles<float>(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                         const TileGrid<float>&, std::span<std::byte>) const;
template void NpyFile::read_tiles<double>(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                          const TileGrid<double>&, std::span<std::byte>) const;

}  // namespace fairlead::data
