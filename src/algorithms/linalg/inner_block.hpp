// How many columns the kernels of a tile factor at once, of those that factor two tiles together.
#pragma once
#include <algorithm>
#include <cstdint>

namespace fairlead::linalg {

/// Few: the columns of a block are factored one by one, and QR does more work the more there are. Many: what is
/// applied to other tiles is products, which want to be large. OpenBLAS 0.3.21 on one Zen 5 core, FP64, GF/s of
/// tsqrt / tsmqr / ssssm, for a gemm of 49:
///
///     tile 192, in blocks of 16: 28 / 38 / 29    32: 24 / 40 / 27    64: 21 / 41 / 25    128: 13 / 38 / 23
///     tile 384, in blocks of 16: 30 / 35 / 31    32: 31 / 40 / 33    64: 27 / 40 / 33    128: 22 / 41 / 30
constexpr std::int32_t inner_block_for(std::int32_t tile) noexcept {
  return std::min(tile, std::clamp(tile / 6, 16, 64));
}

}  // namespace fairlead::linalg
