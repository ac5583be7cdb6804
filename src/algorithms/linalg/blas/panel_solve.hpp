// The triangular solves of tiled factorizations, made of products as far as that does no harm.
#pragma once
#include <cstddef>

#include "algorithms/linalg/blas/blas.hpp"

namespace fairlead::linalg {

/// A triangle t and how a factorization solves with it: A := A op(t)^-1 (right) or op(t)^-1 A (left).
struct TriangularSolve {
  Side side;
  Triangle triangle;
  Transpose op;
  Diagonal diagonal;
};
/// A L^-T, of a Cholesky factorization: what lies below the diagonal.
inline constexpr TriangularSolve below_cholesky{Side::right, Triangle::lower, Transpose::yes,
                                                Diagonal::general};
/// A U^-1 and L^-1 A, of an LU factorization whose L has ones on the diagonal.
inline constexpr TriangularSolve below_lu{Side::right, Triangle::upper, Transpose::no, Diagonal::general};
inline constexpr TriangularSolve right_of_lu{Side::left, Triangle::lower, Transpose::no, Diagonal::unit};

/// Whether it goes from the first column of A (right) or row (left) to the last: so do those above.
constexpr bool goes_forward(const TriangularSolve& solve) noexcept {
  const bool lower = (solve.triangle == Triangle::lower) != (solve.op == Transpose::yes);
  return lower == (solve.side == Side::left);
}

/// Solves for an m x n matrix A by halves of its columns (right) or rows (left): one is solved for, a product brings
/// the other up to date. Only what goes_forward(). As stable as the solve in one
/// piece, and faster. GF/s of one Zen 4 core, FP64, OpenBLAS 0.3.21: trsm in one piece / in panels of 96, each brought
/// up to date by all before it / this / gemm, the last three with Fairlead's own products:
///
///     below_cholesky, tile 512: 39 / 43 / 44 / 47    768: 47 / 47 / 49 / 49    1024: 46 / 41 / 47 / 51
///     right_of_lu,    tile 512: 39 / 34 / 38 / 51    768: 36 / 37 / 45 / 50    1024: 35 / 35 / 42 / 51
///
/// The product with the inverse was left out: where the tile's L is ill-conditioned the residual of the
/// factorization grows with it. For a Gaussian kernel matrix with tiles of condition 4e8 it is 2,000 times
/// that of a solve; with condition 1e4 it is four times.
template <Real T>
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
  // What joins the second to the first: blocks below the diagonal, or above it.
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
