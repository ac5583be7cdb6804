// See product_tiling.hpp.
#include "solver/product_tiling.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/linalg/choose_tile.hpp"
#include "base/pages.hpp"
#include "config/memory_limit_error.hpp"
#include "config/value.hpp"

namespace fairlead::solver {

namespace {

constexpr std::int64_t least_side = 128;      // below it, kernels are slow
constexpr std::int64_t most_inner = 4096;     // of a tile: longer ones make tasks no more efficient
constexpr std::int64_t most_tiles = 1 << 22;  // of A and B: each takes some hundreds of bytes

std::int64_t parts(std::int64_t extent, std::int64_t side) noexcept { return (extent + side - 1) / side; }
/// The side of this many tiles.
std::int32_t even_side(std::int64_t extent, std::int64_t tiles) noexcept {
  return static_cast<std::int32_t>(parts(extent, tiles));
}

ProductTiling chosen_tiles(const ProductExtents& of, Bytes memory, std::size_t workers, bool own_products) {
  const std::int64_t side = linalg::choose_tile(
      std::max({of.rows, of.columns, of.inner}), of.element_bytes, memory, workers,
      {.tiles_per_side = 1, .max_side = linalg::tile_needs(workers, own_products).max_side});
  std::int64_t down = parts(of.rows, side), across = parts(of.columns, side);
  // Products of one tile of C run one after the other: there are several tiles for each worker.
  const auto wanted = static_cast<std::int64_t>(4 * workers);
  while (down * across < wanted) {
    const std::int64_t height = parts(of.rows, down), width = parts(of.columns, across);
    if (std::max(height, width) <= least_side) break;
    (height >= width ? down : across) *= 2;
  }
  const std::int32_t rows = even_side(of.rows, down), columns = even_side(of.columns, across);
  const std::int64_t inner =
      std::clamp(side * side / std::max(rows, columns), side, std::max(side, most_inner));
  return {rows, columns, even_side(of.inner, parts(of.inner, inner)), 1, 1};
}

}  // namespace

Bytes ProductTiling::tile_bytes(std::int32_t height, std::int32_t width,
                                std::size_t element_bytes) const noexcept {
  return whole_pages_for(static_cast<Bytes>(height) * static_cast<Bytes>(width) * element_bytes);
}

ProductTiling product_tiling(const ProductExtents& of, Bytes memory, std::size_t workers, std::int32_t tile,
                             bool own_products) {
  ProductTiling it = chosen_tiles(of, memory, workers, own_products);
  if (tile > 0) {
    const auto at_most = [tile](std::int64_t extent) {
      return static_cast<std::int32_t>(std::min<std::int64_t>(tile, extent));
    };
    it = {at_most(of.rows), at_most(of.columns), at_most(of.inner), 1, 1};
  }
  const std::int64_t down = parts(of.rows, it.rows), across = parts(of.columns, it.columns),
                     along = parts(of.inner, it.inner);
  const Bytes a = it.tile_bytes(it.rows, it.inner, of.element_bytes),
              b = it.tile_bytes(it.inner, it.columns, of.element_bytes),
              c = it.tile_bytes(it.rows, it.columns, of.element_bytes);
  const auto needed = [&](std::int64_t rows, std::int64_t columns) {
    const auto r = static_cast<Bytes>(rows), w = static_cast<Bytes>(columns);
    return r * w * c + 2 * (r * a + w * b) + workers * (a + b);
  };
  if ((down + across) * along > most_tiles)
    throw config::MemoryLimitError(fmt::format(
        "the product has {} tiles of {} x {} and {} x {}, and at most {} are possible: allow more "
        "memory, or larger tiles, by the options memory and tile",
        (down + across) * along, it.rows, it.inner, it.inner, it.columns, most_tiles));
  if (needed(1, 1) > memory)
    throw config::MemoryLimitError(fmt::format(
        "the memory limit leaves {} for the tiles of the product, and {} are needed for tiles of {} "
        "x {} and {} x {}: allow more by the option memory",
        config::readable_size(memory), config::readable_size(needed(1, 1)), it.rows, it.inner, it.inner,
        it.columns));
  bool grows = true;
  while (grows) {
    const bool taller = it.block_rows < down && needed(it.block_rows + 1, it.block_columns) <= memory,
               wider = it.block_columns < across && needed(it.block_rows, it.block_columns + 1) <= memory;
    const bool is_wide = it.block_columns * it.columns > it.block_rows * it.rows;
    if (taller && (is_wide || !wider))
      ++it.block_rows;
    else if (wider)
      ++it.block_columns;
    grows = taller || wider;
  }
  // As many blocks, of even sizes.
  it.block_rows = parts(down, parts(down, it.block_rows));
  it.block_columns = parts(across, parts(across, it.block_columns));
  return it;
}

}  // namespace fairlead::solver
