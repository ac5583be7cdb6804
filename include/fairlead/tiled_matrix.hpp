// Tiled matrices: each tile is a datum. Tile (i, j) starts at row i * tile_size().rows and column j *
// tile_size().columns of the matrix. Tiles of the last row and column may be smaller.
#pragma once
#include <fairlead/distribution.hpp>
#include <fairlead/handle.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/refresh.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace fairlead {

/// The size of full tiles; one number means a square tile.
struct TileSize {
  constexpr TileSize(std::int32_t side) noexcept : rows(side), columns(side) {}  // NOLINT: a side is one
  constexpr TileSize(std::int32_t tile_rows, std::int32_t tile_columns) noexcept
      : rows(tile_rows), columns(tile_columns) {}
  /// The smaller tiles of the last row and column take as many bytes as full tiles: in memory, in files, and in
  /// messages to other ranks. Bodies see only the elements of the matrix. Not for tiles in the caller's memory.
  [[nodiscard]] constexpr TileSize padded() const noexcept {
    TileSize same = *this;
    same.is_padded = true;
    return same;
  }
  /// Compares the dimensions only, not the padding.
  constexpr bool operator==(const TileSize& other) const noexcept {
    return rows == other.rows && columns == other.columns;
  }

  std::int32_t rows, columns;
  bool is_padded = false;
};

namespace detail {
class TileCollection;
/// Throws UsageError if the tile does not exist, or if `tiles` is null because the matrix was moved from.
DatumReference tile_of(TileCollection* tiles, std::int32_t row, std::int32_t column);
/// The same; returns a reference without a datum if another rank owns the tile.
DatumReference tile_if_here(const TileCollection* tiles, std::int32_t row, std::int32_t column);
/// null: this rank owns all tiles
const Distribution* distribution_of(const TileCollection& tiles) noexcept;
void advise_tiles(const TileCollection* tiles,
                  const std::function<int(std::int32_t row, std::int32_t column)>& device_of);
void refresh_tiles(const TileCollection* tiles, Refresh when);
struct Tiling {
  std::int64_t rows = 0, columns = 0;
  TileSize tile = 1;
  bool lower_only = false;
  std::int64_t leading_dimension = 0;  ///< in the user's memory; 0: the runtime stores the tiles
};
const Tiling& tiling_of(const TileCollection& tiles) noexcept;
/// Throws UsageError if tiles are not square.
std::int32_t side_of(const TileCollection& tiles);
}  // namespace detail

/// Which tiles exist.
enum class Tiles : std::uint8_t {
  all,
  lower,  // tiles on and below the diagonal
};

/// Owns the tiles: they are registered as long as this object lives. Its destructor waits for the tasks that use them;
/// handles are then rejected. If it is destroyed inside a body or in another thread, where it cannot wait, the tiles
/// stay until the runtime ends. Movable, not copyable.
template <class Element>
class TiledMatrix {
  static_assert(detail::can_be_element<Element>());

 public:
  explicit TiledMatrix(std::shared_ptr<detail::TileCollection> tiles) noexcept : tiles_(std::move(tiles)) {}
  TiledMatrix(TiledMatrix&&) noexcept = default;
  TiledMatrix& operator=(TiledMatrix&&) noexcept = default;

  /// The handle of tile (row, column). Throws UsageError if the tile does not exist. Tasks can use the handle of a tile
  /// that another rank owns.
  Handle<Tile<Element>> operator()(std::int32_t row, std::int32_t column) const {
    return {detail::tile_of(tiles_.get(), row, column), shape_of(row, column)};
  }
  /// The same; for a tile that another rank owns, returns a handle with its shape but without a datum.
  Handle<Tile<Element>> here_or_not(std::int32_t row, std::int32_t column) const {
    return {detail::tile_if_here(tiles_.get(), row, column), shape_of(row, column)};
  }
  /// The owners of the tiles, with several ranks; null: this rank owns all tiles.
  const Distribution* distribution() const noexcept { return detail::distribution_of(*tiles_); }

  /// A placement hint: tile (i, j) should reside on accelerator device_of(i, j), counted from 0, or no_device. See
  /// Runtime::advise(), also for the errors; <fairlead/cyclic_map.hpp> has suitable functions.
  template <class Function>
  void advise(const Function& device_of) const {
    detail::advise_tiles(tiles_.get(), device_of);
  }

  /// Selects when the caller's memory is updated, for all tiles: see Runtime::refresh().
  void refresh(Refresh when) const { detail::refresh_tiles(tiles_.get(), when); }

  /// True if only the tiles on and below the diagonal exist.
  bool lower_only() const noexcept { return detail::tiling_of(*tiles_).lower_only; }
  std::int64_t rows() const noexcept { return detail::tiling_of(*tiles_).rows; }
  std::int64_t columns() const noexcept { return detail::tiling_of(*tiles_).columns; }
  /// The side of full tiles. Throws UsageError if they are not square.
  std::int32_t tile() const { return detail::side_of(*tiles_); }
  TileSize tile_size() const noexcept { return detail::tiling_of(*tiles_).tile; }
  std::int32_t tile_rows() const noexcept { return count(rows(), tile_size().rows); }
  std::int32_t tile_columns() const noexcept { return count(columns(), tile_size().columns); }
  std::int32_t rows_of(std::int32_t tile_row) const noexcept {
    return extent(rows(), tile_size().rows, tile_row);
  }
  std::int32_t columns_of(std::int32_t tile_column) const noexcept {
    return extent(columns(), tile_size().columns, tile_column);
  }

 private:
  TileShape shape_of(std::int32_t row, std::int32_t column) const noexcept {
    const detail::Tiling& tiling = detail::tiling_of(*tiles_);
    TileShape shape{extent(tiling.rows, tiling.tile.rows, row),
                    extent(tiling.columns, tiling.tile.columns, column), 0};
    shape.leading_dimension =
        tiling.leading_dimension != 0 ? static_cast<std::int32_t>(tiling.leading_dimension) : shape.rows;
    return shape;
  }
  static std::int32_t count(std::int64_t elements, std::int32_t tile) noexcept {
    return static_cast<std::int32_t>((elements + tile - 1) / tile);
  }
  static std::int32_t extent(std::int64_t elements, std::int32_t tile, std::int32_t index) noexcept {
    const std::int64_t left = elements - static_cast<std::int64_t>(index) * tile;
    return static_cast<std::int32_t>(left < tile ? left : tile);
  }
  std::shared_ptr<detail::TileCollection> tiles_;
};

}  // namespace fairlead
