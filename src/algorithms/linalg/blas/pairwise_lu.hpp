// LU factorization with pivoting between pairs of tiles, which LAPACK does not have: a triangle U on top of a tile A.
// Buttari, Langou, Kurzak, Dongarra 2009 ("A class of parallel tiled linear algebra algorithms for multicore
// architectures"), with their names tstrf and ssssm for the two kernels; Yip 1979 ("Fortran subroutines for out-of-core
// solutions of large complex linear systems"), the origin of pairwise pivoting of blocks.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "algorithms/linalg/blas/blas.hpp"

namespace fairlead::linalg {

/// What tstrf() stores in addition to U and A, for blocks of ib columns. `l` (ib x n) has the unit lower triangle that
/// eliminates within a block of U. `pivots` (n elements) has the exchanges: row i of a block with row pivots[i], from
/// 1, of that block on top of A.
template <class Number, class Pivot>
struct PairFactors {
  int ib;
  Number* l;
  int ldl;
  Pivot* pivots;
};

namespace detail {

/// Exchanges the rows of a block of U and of A by `pivots`; `undo`: in reverse.
template <Scalar T>
void exchange_rows(int block, int columns, const std::int32_t* pivots, T* u, int ldu, T* a, int lda,
                   bool undo = false) {
  // Column by column: the elements of a row are on different cache lines.
  for (int j = 0; j < columns; ++j) {
    T* const of_u = u + static_cast<std::ptrdiff_t>(j) * ldu;
    T* const of_a = a + static_cast<std::ptrdiff_t>(j) * lda;
    for (int step = 0; step < block; ++step) {
      const int i = undo ? block - 1 - step : step, with = pivots[i] - 1;
      std::swap(of_u[i], with < block ? of_u[with] : of_a[with - block]);
    }
  }
}

/// Applies one block: the exchanges, then C1 := L^-1 C1, then C2 := C2 - A C1. A has m rows.
template <Scalar T>
void eliminate(const Blas& blas, int m, int columns, int block, const T* l, int ldl,
               const std::int32_t* pivots, const T* a, int lda, T* c1, int ldc1, T* c2, int ldc2) {
  if (columns == 0) return;
  exchange_rows(block, columns, pivots, c1, ldc1, c2, ldc2);
  blas.trsm<T>(Side::left, Triangle::lower, Transpose::no, Diagonal::unit, block, columns, 1, l, ldl, c1,
               ldc1);
  blas.gemm<T>(Transpose::no, Transpose::no, m, columns, block, -1, a, lda, c1, ldc1, 1, c2, ldc2);
}

}  // namespace detail

/// Factors the n x n triangle U on top of the m x n tile A in place: U becomes the U of both, A the part of L below it.
/// Elements below the diagonal of U are not accessed. `work` has (ib + m) ib elements. A zero pivot is kept, as a later
/// tile may provide another one. Returns 0, or the index, from 1, of the first pivot that is not finite; the columns
/// right of its block are then not factored.
template <Scalar T>
[[nodiscard]] int tstrf(const Blas& blas, int m, int n, T* u, int ldu, T* a, int lda,
                        const PairFactors<T, std::int32_t>& left, T* work) {
  const auto at = [](T* matrix, int ld, int i, int j) {
    return matrix + i + static_cast<std::ptrdiff_t>(j) * ld;
  };
  for (int k = 0; k < n; k += left.ib) {
    const int block = std::min(left.ib, n - k), ld = block + m;
    for (int j = 0; j < block; ++j) {
      T* const column = at(work, ld, 0, j);
      std::copy_n(at(u, ldu, k, k + j), j + 1, column);
      std::fill_n(column + j + 1, block - j - 1, T(0));
      std::copy_n(at(a, lda, 0, k + j), m, column + block);
    }
    std::int32_t* const pivots = left.pivots + k;
    (void)blas.getrf<T>(ld, block, work, ld, pivots);  // a zero pivot remains on the diagonal
    for (int i = 0; i < block; ++i)
      if (!is_finite_number(*at(work, ld, i, i)) || pivots[i] < i + 1 || pivots[i] > ld) return k + i + 1;
    T* const l = at(left.l, left.ldl, 0, k);
    for (int j = 0; j < block; ++j) {
      const T* const column = at(work, ld, 0, j);
      std::copy_n(column, j + 1, at(u, ldu, k, k + j));
      std::copy_n(column + j + 1, block - j - 1, at(l, left.ldl, j + 1, j));
      std::copy_n(column + block, m, at(a, lda, 0, k + j));
    }
    const int right = n - k - block;
    detail::eliminate(blas, m, right, block, l, left.ldl, pivots, at(a, lda, 0, k), lda,
                      at(u, ldu, k, k + block), ldu, at(a, lda, 0, k + block), lda);
  }
  return 0;
}

/// Applies the steps of tstrf() to C1 on top of C2, of n x columns (further rows are not accessed) and m x columns.
template <Scalar T>
void ssssm(const Blas& blas, int m, int n, int columns, const T* a, int lda,
           const PairFactors<const T, const std::int32_t>& left, T* c1, int ldc1, T* c2, int ldc2) {
  for (int k = 0; k < n; k += left.ib) {
    const std::ptrdiff_t first = k;
    detail::eliminate(blas, m, columns, std::min(left.ib, n - k), left.l + first * left.ldl, left.ldl,
                      left.pivots + k, a + first * lda, lda, c1 + k, ldc1, c2, ldc2);
  }
}

/// Applies the transpose of ssssm(), with conjugate elements, for solves with A^H.
template <Scalar T>
void ssssm_transposed(const Blas& blas, int m, int n, int columns, const T* a, int lda,
                      const PairFactors<const T, const std::int32_t>& left, T* c1, int ldc1, T* c2,
                      int ldc2) {
  for (int k = (n - 1) / left.ib * left.ib; k >= 0; k -= left.ib) {
    const std::ptrdiff_t first = k;
    const int block = std::min(left.ib, n - k);
    blas.gemm<T>(adjoint<T>, Transpose::no, block, columns, m, -1, a + first * lda, lda, c2, ldc2, 1, c1 + k,
                 ldc1);
    blas.trsm<T>(Side::left, Triangle::lower, adjoint<T>, Diagonal::unit, block, columns, 1,
                 left.l + first * left.ldl, left.ldl, c1 + k, ldc1);
    detail::exchange_rows(block, columns, left.pivots + k, c1 + k, ldc1, c2, ldc2, true);
  }
}

}  // namespace fairlead::linalg
