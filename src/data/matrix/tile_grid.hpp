// The target of a read: column-major tiles. Elements as they are stored are converted and copied into them.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

#include "data/matrix/array_layout.hpp"

namespace fairlead::data {

/// Rows and columns of a matrix.
struct ElementBlock {
  std::uint64_t row = 0, row_count = 0, column = 0, column_count = 0;
};

/// Column-major tiles, contiguous or not. Element (i, j) of the block belongs to tiles[(j / tile_columns) *
/// tile_rows_count + i / tile_rows].
template <class T>
struct TileGrid {
  std::span<T* const> tiles;                      ///< column by column; null: not needed
  std::uint64_t tile_rows = 0, tile_columns = 0;  ///< elements per side of a tile
  std::uint64_t ld = 0;                           ///< leading dimension of a tile, in elements
};

/// A rectangle of elements as they are stored.
struct StoredElements {
  const std::byte* first;
  std::uint64_t
      stride;  ///< elements between the starts of lines: of rows in C order, of columns in Fortran order
  StorageOrder order;
  ElementType element;
  bool byte_swapped;
};

/// Receives the elements of a requested block.
class ElementSink {
 public:
  /// `where`: relative to the requested block.
  virtual void put(const ElementBlock& where, const StoredElements& elements) = 0;

 protected:
  ~ElementSink() = default;
};

/// Copies into the tiles of a block with `row_count` rows. Complex tiles receive real elements, too; the other way round
/// StoredMatrix refuses it.
template <class T>
class GridSink final : public ElementSink {
 public:
  GridSink(const TileGrid<T>& grid, std::uint64_t row_count) noexcept
      : grid_(grid), tiles_in_column_((row_count + grid.tile_rows - 1) / grid.tile_rows) {}
  void put(const ElementBlock& where, const StoredElements& elements) override;

 private:
  const TileGrid<T>& grid_;
  std::uint64_t tiles_in_column_;
};

extern template class GridSink<float>;
extern template class GridSink<double>;
extern template class GridSink<std::complex<float>>;
extern template class GridSink<std::complex<double>>;

}  // namespace fairlead::data
