// Floating-point operations of the kernels of tiled factorizations, multiplies and adds counted one each
// (LAPACK Working Note 41).
#pragma once

namespace fairlead::linalg {

constexpr double gemm_flops(double m, double n, double k) noexcept { return 2 * m * n * k; }
constexpr double syrk_flops(double n, double k) noexcept { return k * n * (n + 1); }
constexpr double trsm_flops(double m, double n) noexcept {
  return m * n * n;
}  ///< triangle of n x n, the other side m
constexpr double potrf_flops(double n) noexcept { return n * n * n / 3 + n * n / 2 + n / 6; }
constexpr double getrf_flops(double n) noexcept { return n * (n - 1) * (4 * n + 1) / 6; }

}  // namespace fairlead::linalg
