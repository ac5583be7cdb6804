// Floating-point operations of the kernels of tiled factorizations; a multiplication and an addition count one each
// (LAPACK Working Note 41).
#pragma once

#include "base/scalar.hpp"

namespace fairlead::linalg {

/// Operations on real numbers per operation on elements: a complex multiplication and addition are eight. The functions
/// below count operations on elements.
constexpr double real_flops_of(ElementType element) noexcept { return is_complex(element) ? 4 : 1; }
template <class T>
inline constexpr double real_flops = real_flops_of(element_type_of<T>);

constexpr double gemm_flops(double m, double n, double k) noexcept { return 2 * m * n * k; }
constexpr double syrk_flops(double n, double k) noexcept { return k * n * (n + 1); }
constexpr double trsm_flops(double m, double n) noexcept {
  return m * n * n;
}  ///< triangle of n x n, the other side m
constexpr double potrf_flops(double n) noexcept { return n * n * n / 3 + n * n / 2 + n / 6; }
constexpr double getrf_flops(double n) noexcept { return n * (n - 1) * (4 * n + 1) / 6; }
/// LU of m x n with m >= n; for m = n it is getrf_flops().
constexpr double panel_getrf_flops(double m, double n) noexcept { return getrf_flops(n) + (m - n) * n * n; }

// Kernels of a tiled QR factorization, by their leading terms; the extra cost of inner blocks (ib) is not counted. For
// square tiles of side b they are 4, 6, 6, 12, 2 and 6 times b^3 / 3, as in Bouwmeester, Jacquelin, Langou, Robert 2011
// ("Tiled QR factorization algorithms"). For partial tiles, any tree adds up to the operations of the whole
// factorization.

/// QR factorization of m x n, with k = min(m, n) reflectors: 2 n^2 (m - n / 3) if m >= n.
constexpr double geqrt_flops(double m, double n) noexcept {
  const double k = m < n ? m : n;
  return 4 * m * n * k - 2 * (m + n) * k * k + 4 * k * k * k / 3;
}
/// Applies the k reflectors of geqrt to m x n.
constexpr double unmqr_flops(double m, double n, double k) noexcept { return 4 * m * n * k - 2 * n * k * k; }
/// QR factorization of an n x n triangle on top of an m x n tile.
constexpr double tsqrt_flops(double m, double n) noexcept { return 2 * m * n * n; }
/// Applies the k reflectors of tsqrt to m x n and to the n columns of the tile above.
constexpr double tsmqr_flops(double m, double n, double k) noexcept { return 4 * m * n * k; }
/// QR factorization of an n x n triangle on top of another triangle, of m rows if it has fewer.
constexpr double ttqrt_flops(double m, double n) noexcept { return tsqrt_flops(m, n) - geqrt_flops(m, n); }
/// Applies the k reflectors of ttqrt to m x n and to the n columns of the tile above.
constexpr double ttmqr_flops(double m, double n, double k) noexcept {
  const double rows = m < k ? m : k;
  return tsmqr_flops(m, n, k) - unmqr_flops(m, n, rows);
}

// Kernels of LU with incremental pivoting, by their leading terms: their sum over the tiles is that of the whole
// factorization. The blocks of exchanges cost ib / tile more.

/// LU of an n x n triangle on top of an m x n tile.
constexpr double tstrf_flops(double m, double n) noexcept { return m * n * n; }
/// Applies the elimination of k columns by tstrf to m x n and to the n columns of the tile above.
constexpr double ssssm_flops(double m, double n, double k) noexcept { return 2 * m * n * k; }

}  // namespace fairlead::linalg
