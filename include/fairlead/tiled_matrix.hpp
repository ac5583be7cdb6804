// A matrix cut into tiles: a collection of data without a whole. Tile (i, j) holds rows i * tile_size().rows ... and
// columns j * tile_size().columns ...; those of the last row and column may be smaller.
#pragma once
#include <fairlead/distribution.hpp>
#include <fairlead/handle.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/refresh.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace fairlead {

/// Of whole tiles. Square ones are said by their side.
struct TileSize {
  constexpr TileSize(std::int32_t side) noexcept : rows(side), columns(side) {}  // NOLINT: a side is one
  constexpr TileSize(std::int32_t tile_rows, std::int32_t tile_columns) noexcept
      : rows(tile_rows), columns(tile_columns) {}
  /// The last tiles of rows and columns, which are smaller, take as many bytes as whole ones do: in memory, in files and on the
  /// way to other ranks. Bodies see no more than before.
  [[nodiscard]] constexpr TileSize padded() const noexcept {
    TileSize same = *this;
    same.is_padded = true;
    return same;
  }
  /// Whether tiles are cut alike.
  constexpr bool operator==(const TileSize& other) const noexcept {
    return rows == other.rows && columns == other.columns;
  }

  std::int32_t rows, columns;
  bool is_padded = false;
};

namespace detail {
class TileCollection;
/// Throws UsageError if there is no such tile, or no matrix: `tiles` is null where it was moved from.
DatumReference tile_of(TileCollection* tiles, std::int32_t row, std::int32_t column);
/// The same without a datum if another rank owns the tile.
DatumReference tile_if_here(const TileCollection* tiles, std::int32_t row, std::int32_t column);
/// Null: this rank owns all.
const Distribution* distribution_of(const TileCollection& tiles) noexcept;
void advise_tiles(const TileCollection* tiles,
                  const std::function<int(std::int32_t row, std::int32_t column)>& device_of);
void refresh_tiles(const TileCollection* tiles, Refresh when);
struct Grid {
  std::int64_t rows = 0, columns = 0;
  TileSize tile = 1;
  bool lower_only = false;
  std::int64_t leading_dimension = 0;  ///< of the user's memory; 0: the tiles are the runtime's
};
const Grid& grid_of(const TileCollection& tiles) noexcept;
/// Throws UsageError if tiles are not square.
std::int32_t side_of(const TileCollection& tiles);
}  // namespace detail

/// Which tiles exist.
enum class Tiles : std::uint8_t {
  all,
  lower,  // those on and below the diagonal
};

/// Its tiles are registered as long as it lives; its end waits for the tasks that use them. A handle of one
/// of them is refused afterwards. If it ends inside a body or in another thread, where it cannot wait, the
/// tiles stay until the runtime is gone. Movable, not copyable.
template <class Element>
class TiledMatrix {
  static_assert(detail::can_be_element<Element>());

 public:
  explicit TiledMatrix(std::shared_ptr<detail::TileCollection> tiles) noexcept : tiles_(std::move(tiles)) {}
  TiledMatrix(TiledMatrix&&) noexcept = default;
  TiledMatrix& operator=(TiledMatrix&&) noexcept = default;

  /// Throws UsageError if there is no such tile. Over ranks also of a tile that another one owns: for tasks.
  Handle<Tile<Element>> operator()(std::int32_t row, std::int32_t column) const {
    return {detail::tile_of(tiles_.get(), row, column), shape_of(row, column)};
  }
  /// The same; of a tile that another rank owns, a handle that has its shape and no datum.
  Handle<Tile<Element>> here_or_not(std::int32_t row, std::int32_t column) const {
    return {detail::tile_if_here(tiles_.get(), row, column), shape_of(row, column)};
  }
  /// Over ranks: who owns what. Null: this one owns all.
  const Distribution* distribution() const noexcept { return detail::distribution_of(*tiles_); }

  /// A wish: tile (i, j) should live on the accelerator device_of(i, j), counted from 0, or no_device. See
  /// Runtime::advise(); <fairlead/cyclic_map.hpp> has functions to give. Throws as that.
  template <class Function>
  void advise(const Function& device_of) const {
    detail::advise_tiles(tiles_.get(), device_of);
  }

  /// When the caller's memory gets what accelerators have changed, for all tiles: see Runtime::refresh().
  void refresh(Refresh when) const { detail::refresh_tiles(tiles_.get(), when); }

  /// There are no tiles above the diagonal.
  bool lower_only() const noexcept { return detail::grid_of(*tiles_).lower_only; }
  std::int64_t rows() const noexcept { return detail::grid_of(*tiles_).rows; }
  std::int64_t columns() const noexcept { return detail::grid_of(*tiles_).columns; }
  /// The side of whole tiles. Throws UsageError if they are not square.
  std::int32_t tile() const { return detail::side_of(*tiles_); }
  TileSize tile_size() const noexcept { return detail::grid_of(*tiles_).tile; }
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
    const detail::Grid& grid = detail::grid_of(*tiles_);
    TileShape shape{extent(grid.rows, grid.tile.rows, row), extent(grid.columns, grid.tile.columns, column),
                    0};
    shape.leading_dimension =
        grid.leading_dimension != 0 ? static_cast<std::int32_t>(grid.leading_dimension) : shape.rows;
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
