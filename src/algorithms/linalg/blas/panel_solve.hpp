// The triangular solves of tiled factorizations, made of matrix products as far as stability allows.
#pragma once
#include <cstddef>

#include "algorithms/linalg/blas/blas.hpp"

namespace fairlead::linalg {

/// A solve with a triangle t: A := A op(t)^-1 (right) or op(t)^-1 A (left).
struct TriangularSolve {
  Side side;
  Triangle triangle;
  Transpose op;
  Diagonal diagonal;
};
/// Cholesky, tiles below the diagonal: A L^-H.
template <Scalar T>
inline constexpr TriangularSolve below_cholesky{Side::right, Triangle::lower, adjoint<T>, Diagonal::general};
/// LU with a unit lower triangle L: A U^-1 for tiles below the diagonal, L^-1 A for tiles right of it.
inline constexpr TriangularSolve below_lu{Side::right, Triangle::upper, Transpose::no, Diagonal::general};
inline constexpr TriangularSolve right_of_lu{Side::left, Triangle::lower, Transpose::no, Diagonal::unit};

/// True if the solve proceeds from the first column (right) or row (left) of A to the last, as the solves above do.
constexpr bool goes_forward(const TriangularSolve& solve) noexcept {
  const bool lower = (solve.triangle == Triangle::lower) != (solve.op != Transpose::no);
  return lower == (solve.side == Side::left);
}

/// Solves for an m x n matrix A by recursion on its columns (right) or rows (left): solves for the first half, updates
/// the second half by a product, solves for it. Requires goes_forward(). As stable as one trsm, and faster. GF/s of one
/// Zen 4 core, FP64, OpenBLAS 0.3.21: one trsm / panels of 96, each updated by all panels before it / this function /
/// gemm; the last three with Fairlead's own products:
///
///     below_cholesky, tile 512: 39 / 43 / 44 / 47    768: 47 / 47 / 49 / 49    1024: 46 / 41 / 47 / 51
///     right_of_lu,    tile 512: 39 / 34 / 38 / 51    768: 36 / 37 / 45 / 50    1024: 35 / 35 / 42 / 51
///
/// Products with an explicit inverse are not used: if the tile's L is ill-conditioned, the residual of the
/// factorization grows with the condition number. For a Gaussian kernel matrix it is 2,000 times that of a solve with
/// tiles of condition 4e8, and four times with condition 1e4.
template <Scalar T>
void panel_solve(const Blas& blas, const TriangularSolve& solve, int m, int n, const T* t, int ld_t, T* a,
                 int ld_a) {
  constexpr int panel = 96;
  const bool right = solve.side == Side::right;
  const int order = right ? n : m;
  if (order <= panel) {
    blas.trsm<T>(solve.side, solve.triangle, solve.op, solve.diagonal, m, n, 1, t, ld_t, a, ld_a);
    return;
  }
  const int first = (order / 2 + panel - 1) / panel * panel, second = order - first;
  const auto step = static_cast<std::ptrdiff_t>(first);
  // The off-diagonal block that couples the two halves.
  const T* const between = t + (solve.triangle == Triangle::lower ? step : step * ld_t);
  const T* const diagonal = t + step + step * ld_t;
  if (right) {
    T* const columns = a + step * ld_a;
    panel_solve<T>(blas, solve, m, first, t, ld_t, a, ld_a);
    blas.gemm<T>(Transpose::no, solve.op, m, second, first, -1, a, ld_a, between, ld_t, 1, columns, ld_a);
    panel_solve<T>(blas, solve, m, second, diagonal, ld_t, columns, ld_a);
  } else {
    T* const rows = a + step;
    panel_solve<T>(blas, solve, first, n, t, ld_t, a, ld_a);
    blas.gemm<T>(solve.op, Transpose::no, second, n, first, -1, between, ld_t, a, ld_a, 1, rows, ld_a);
    panel_solve<T>(blas, solve, second, n, diagonal, ld_t, rows, ld_a);
  }
}

}  // namespace fairlead::linalg
