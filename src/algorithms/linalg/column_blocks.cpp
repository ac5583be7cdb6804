// See column_blocks.hpp.
#include "algorithms/linalg/column_blocks.hpp"

#include <algorithm>

namespace fairlead::linalg {

std::vector<std::int32_t> column_blocks(const BlockedColumns& of) {
  // Each worker uses a tile of a panel to the left and has others prefetched.
  const std::int64_t streamed = 4 * of.workers + 8 * of.ranks, usable = of.tiles_in_memory - streamed;
  if (of.tile_rows * (of.tile_columns + of.ranks) <= of.tiles_in_memory) return {0};
  std::vector<std::int32_t> firsts;
  for (std::int64_t first = 0; first < of.tile_columns;) {
    firsts.push_back(static_cast<std::int32_t>(first));
    // During the updates by the panels to the left, whole columns are in memory. When the first panel of the block is
    // factored, the rows above it are complete, and a copy of the panel is in memory, too.
    const std::int64_t height = of.tile_rows - first;
    const std::int64_t updated = usable / of.tile_rows, factored = usable / height - of.ranks;
    first += std::max<std::int64_t>(1, std::min(updated, factored));
  }
  return firsts;
}

}  // namespace fairlead::linalg
