// The side of a tile, when the user leaves it to Fairlead.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fairlead::linalg {

/// What an algorithm wants of its tiles.
struct TileNeeds {
  std::int64_t enough;     ///< so many a side keep all workers busy to the end
  std::int32_t largest;    ///< above that side kernels are no faster
  Bytes device_bytes = 0;  ///< of the smallest device that computes, too; 0: none does
};
/// Of Cholesky the critical path has 3 tasks a column of tiles, all tasks are a sixth of the cube of the columns.
/// Products of OpenBLAS are the faster the larger the tile, Fairlead's own reach their best with 768: see docs/performance.md.
constexpr TileNeeds tile_needs(std::size_t workers, bool own_products = false) noexcept {
  return {8 + 4 * static_cast<std::int64_t>(std::max<std::size_t>(workers, 1)), own_products ? 768 : 1024};
}
/// Of QR, and of LU with pivoting in pairs, twice as many tasks are beside a path of that length: with so many tiles 1
/// to 3 % of the time of 2 to 8 workers is idle, in simulations. Inside a tile columns are factored a block at a time,
/// more slowly the larger the tile: OpenBLAS 0.3.21 on one Zen 5 core takes 8.7, 7.8, 7.2, 7.3, 7.5 and 8.6 s for QR with n
/// = 6,144 in tiles of 320, 448, 576, 640, 768 and 1,024; 65 and 72 s with n = 12,288 in tiles of 640 and 1,024.
constexpr TileNeeds tile_needs_of_pairs(std::size_t workers, bool = false) noexcept {
  return {6 + (3 * static_cast<std::int64_t>(std::max<std::size_t>(workers, 1)) + 1) / 2, 640};
}

/// Beside devices that are much faster than the cores: products there are at nine tenths of what they reach with 2,048 a side
/// (by data sheets; measured on no device yet), and a few tens of tiles a side are enough.
constexpr TileNeeds tile_needs_of_devices(Bytes smallest) noexcept { return {16, 2048, smallest}; }

/// For factorizations and products of n x n matrices. Larger tiles make faster kernels and fewer tasks; but
/// enough of them must fit in the memory for workers to have what they use, what comes next and something to
/// reuse, and there must be enough of them a side.
std::int32_t choose_tile(std::int64_t n, std::size_t element_bytes, Bytes memory_bytes, std::size_t workers,
                         const TileNeeds& needs) noexcept;

}  // namespace fairlead::linalg
