// Selects the largest tile side that leaves enough tiles. Sides 256 and 512 are omitted: OpenBLAS's syrk is slow there,
// because columns a power of two apart map to the same cache sets.
#include "algorithms/linalg/choose_tile.hpp"
#include "base/pages.hpp"

#include <algorithm>
#include <iterator>

namespace fairlead::linalg {

std::int32_t choose_tile(std::int64_t n, std::size_t element_bytes, Bytes memory_bytes, std::size_t workers,
                         const TileRequirements& needs) noexcept {
  // A tile occupies at least one page. Sides below the last one would occupy as much memory and make more tasks.
  constexpr std::int32_t sides[] = {2048, 1536, 1024, 768, 640, 576, 448, 384, 320,
                                    192,  160,  128,  96,  64,  48,  32,  16};
  const auto w = static_cast<std::int64_t>(std::max<std::size_t>(workers, 1));
  const double stored_bytes = needs.stored_part * static_cast<double>(n) * static_cast<double>(n) *
                              static_cast<double>(element_bytes);
  const bool passes = needs.columns_in_passes > 0 && stored_bytes > static_cast<double>(memory_bytes);
  for (const std::int32_t side : sides) {
    if (side > (passes ? needs.max_side_in_passes : needs.max_side)) continue;
    const Bytes tile_bytes =
        whole_pages_for(static_cast<Bytes>(side) * static_cast<Bytes>(side) * element_bytes);
    // A task uses three tiles. Each worker runs one task and has another one prefetched; twelve more tiles are for
    // choice.
    const Bytes slots = memory_bytes / tile_bytes;
    const std::int64_t tiles = (n + side - 1) / side;
    if (passes) {
      const std::int64_t columns = needs.columns_in_passes * tiles, others = 4 + w;
      if (slots >= static_cast<Bytes>(columns + others)) return side;
      continue;
    }
    const bool fits = slots >= static_cast<Bytes>(12 + 12 * w + needs.columns_of_tiles * tiles) &&
                      (needs.device_bytes == 0 || needs.device_bytes / tile_bytes >= 8);
    const bool parallel = tiles >= needs.tiles_per_side;
    if (fits && (parallel || side <= 128))
      return static_cast<std::int32_t>(std::min<std::int64_t>(side, std::max<std::int64_t>(n, 1)));
  }
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(n, 1, sides[std::size(sides) - 1]));
}

}  // namespace fairlead::linalg
