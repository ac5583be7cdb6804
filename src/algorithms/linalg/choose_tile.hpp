// The default tile side.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fairlead::linalg {

/// The requirements of an algorithm on its tiles.
struct TileRequirements {
  std::int64_t tiles_per_side;        ///< tiles per side that keep all workers busy to the end
  std::int32_t max_side;              ///< kernels are no faster above this side
  Bytes device_bytes = 0;             ///< memory of the smallest device that computes; 0: no devices
  std::int64_t columns_of_tiles = 0;  ///< that memory must hold, since tasks use whole columns
  /// If each column of tiles costs a pass over much of a matrix that exceeds memory, the side is the largest possible, up
  /// to max_side_in_passes, such that memory holds this many columns. 0: there are no such passes.
  std::int64_t columns_in_passes = 0;
  std::int32_t max_side_in_passes = 0;
  double stored_part = 1;  ///< of the square matrix
};
/// For Cholesky. The critical path has 3 tasks per column of tiles; all tasks are a sixth of the cube of the columns.
/// OpenBLAS's products become faster with larger tiles; Fairlead's own reach their maximum at 768: see
/// docs/notes/performance.md.
constexpr TileRequirements tile_needs(std::size_t workers, bool own_products = false) noexcept {
  return {8 + 4 * static_cast<std::int64_t>(std::max<std::size_t>(workers, 1)), own_products ? 768 : 1024};
}
/// For QR, and LU with pairwise pivoting: their critical path is as long as that of Cholesky, with twice as many tasks.
/// With this many tiles, 2 to 8 workers are idle for 1 to 3 % of the time in simulations. Within a tile, columns are
/// factored in blocks, more slowly for larger tiles. OpenBLAS 0.3.21 on one Zen 5 core takes 8.7, 7.8, 7.2, 7.3, 7.5
/// and 8.6 s for QR with n = 6,144 and tiles of 320, 448, 576, 640, 768 and 1,024; and 65 and 72 s with n = 12,288 and
/// tiles of 640 and 1,024.
constexpr TileRequirements tile_needs_of_pairs(std::size_t workers, bool = false) noexcept {
  return {6 + (3 * static_cast<std::int64_t>(std::max<std::size_t>(workers, 1)) + 1) / 2, 640};
}

/// For LU with partial pivoting. Wider tiles make products faster, and panels, which one worker factors at a lower rate,
/// take more of the time. Out of core, memory must hold a panel, a copy of it, and the columns that it updates, and short
/// tasks wait for the disk (docs/notes/performance.md).
constexpr TileRequirements tile_needs_of_panels(std::size_t workers, bool = false) noexcept {
  return {.tiles_per_side = 8 + 4 * static_cast<std::int64_t>(std::max<std::size_t>(workers, 1)),
          .max_side = 640,
          .columns_of_tiles = 5,
          .columns_in_passes = 3,
          .max_side_in_passes = 576};
}

/// For LDL^T. The products of T and L and the panels, which no other work overlaps, take less time with smaller tiles.
/// Out of core, each panel costs a pass over the matrix, which takes more time (docs/notes/performance.md).
constexpr TileRequirements tile_needs_of_symmetric_panels(std::size_t workers, bool = false) noexcept {
  return {.tiles_per_side = 20 + 4 * static_cast<std::int64_t>(std::max<std::size_t>(workers, 1)),
          .max_side = 448,
          .columns_of_tiles = 4,
          .columns_in_passes = 2,
          .max_side_in_passes = 1024,
          .stored_part = 0.5};
}

/// With devices that are much faster than the cores. Their products reach nine tenths of the maximum at side 2,048
/// (from data sheets, not measured), and a few tens of tiles per side suffice.
constexpr TileRequirements tile_needs_of_devices(Bytes smallest) noexcept { return {16, 2048, smallest}; }

/// The tile side for factorizations and products of n x n matrices. Larger tiles make kernels faster and tasks fewer.
/// But memory must hold enough tiles for running tasks, prefetched tasks and reuse, and there must be enough tiles per
/// side.
std::int32_t choose_tile(std::int64_t n, std::size_t element_bytes, Bytes memory_bytes, std::size_t workers,
                         const TileRequirements& needs) noexcept;

}  // namespace fairlead::linalg
