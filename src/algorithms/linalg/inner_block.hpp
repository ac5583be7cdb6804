// The inner block size: how many columns the kernels that factor two tiles process at once.
#pragma once
#include <algorithm>
#include <cstdint>

namespace fairlead::linalg {

/// A small block limits the work on columns one by one, and the additional operations of QR, which grow with the block.
/// A large block makes the products that update other tiles large, and thus fast. OpenBLAS 0.3.21 on one Zen 5 core,
/// FP64, GF/s of tsqrt / tsmqr / ssssm, where gemm reaches 49:
///
///     tile 192, in blocks of 16: 28 / 38 / 29    32: 24 / 40 / 27    64: 21 / 41 / 25    128: 13 / 38 / 23
///     tile 384, in blocks of 16: 30 / 35 / 31    32: 31 / 40 / 33    64: 27 / 40 / 33    128: 22 / 41 / 30
constexpr std::int32_t inner_block_for(std::int32_t tile) noexcept {
  return std::min(tile, std::clamp(tile / 6, 16, 64));
}

}  // namespace fairlead::linalg
