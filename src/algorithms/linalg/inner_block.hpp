// How many columns the kernels of a tile factor at once, of those that factor two tiles together.
#pragma once
#include <algorithm>
#include <cstdint>

namespace fairlead::linalg {

/// Few: the columns of a block are factored one by one, and QR does more work the more there are. Many: what
/// is applied to other tiles is products, which want to be large.
constexpr std::int32_t inner_block_for(std::int32_t tile) noexcept {
  return std::clamp(tile / 8, std::min(tile, 8), 64);
}

}  // namespace fairlead::linalg
