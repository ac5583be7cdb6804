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

// Of the kernels of a tiled QR factorization, by their leading terms: blocks inside a tile (ib) cost more
// than this, which nobody counts. For square tiles of b they are 4, 6, 6, 12, 2 and 6 times b^3 / 3, as in
// Bouwmeester, Jacquelin, Langou, Robert 2011 ("Tiled QR factorization algorithms"), and for partial ones
// such that any tree does the work of the factorization as a whole.

/// QR factorization of m x n, with k = min(m, n) reflectors: 2 n^2 (m - n / 3) if m >= n.
constexpr double geqrt_flops(double m, double n) noexcept {
  const double k = m < n ? m : n;
  return 4 * m * n * k - 2 * (m + n) * k * k + 4 * k * k * k / 3;
}
/// Its k reflectors applied to m x n.
constexpr double unmqr_flops(double m, double n, double k) noexcept { return 4 * m * n * k - 2 * n * k * k; }
/// QR factorization of a triangle of n x n on top of m x n.
constexpr double tsqrt_flops(double m, double n) noexcept { return 2 * m * n * n; }
/// Its k reflectors applied to m x n and to the n columns of the tile above.
constexpr double tsmqr_flops(double m, double n, double k) noexcept { return 4 * m * n * k; }
/// QR factorization of a triangle of n x n on top of another one, of m rows if that has fewer.
constexpr double ttqrt_flops(double m, double n) noexcept { return tsqrt_flops(m, n) - geqrt_flops(m, n); }
/// Its k reflectors applied to m x n and to the n columns of the tile above.
constexpr double ttmqr_flops(double m, double n, double k) noexcept {
  const double rows = m < k ? m : k;
  return tsmqr_flops(m, n, k) - unmqr_flops(m, n, rows);
}

// Of an LU factorization with incremental pivoting, by their leading terms again: their sum over the tiles is
// that of the factorization as a whole, and the exchanges' blocks cost ib / tile more.

/// LU of a triangle of n x n on top of m x n.
constexpr double tstrf_flops(double m, double n) noexcept { return m * n * n; }
/// Its elimination of k columns applied to m x n and to the n columns of the tile above.
constexpr double ssssm_flops(double m, double n, double k) noexcept { return 2 * m * n * k; }

}  // namespace fairlead::linalg
