// LU with pivoting between two tiles only, which LAPACK does not have: a triangle U on top of a tile A.
// Buttari, Langou, Kurzak, Dongarra 2009 ("A class of parallel tiled linear algebra algorithms for multicore
// architectures"), who call its two kernels tstrf and ssssm; Yip 1979 ("Fortran subroutines for out-of-core
// solutions of large complex linear systems"), where pivoting by pairs of blocks is from.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "algorithms/linalg/blas/blas.hpp"

namespace fairlead::linalg {

/// What tstrf() leaves besides U and A, for blocks of ib columns: in `l` of ib x n the unit lower triangle
/// that eliminates within a block of U, in `pivots` of n what was exchanged: row i of a block with row
/// pivots[i], from 1, of that block on top of A.
template <class Number, class Pivot>
struct PairFactors {
  int ib;
  Number* l;
  int ldl;
  Pivot* pivots;
};

namespace detail {

/// Exchanges the rows of U's block and A as `pivots` say; `undo`: the other way round.
template <Real T>
void exchange_rows(int block, int columns, const std::int32_t* pivots, T* u, int ldu, T* a, int lda,
                   bool undo = false) {
  // Column by column: a row is an element of each, on a cache line of its own.
  for (int j = 0; j < columns; ++j) {
    T* const of_u = u + static_cast<std::ptrdiff_t>(j) * ldu;
    T* const of_a = a + static_cast<std::ptrdiff_t>(j) * lda;
    for (int step = 0; step < block; ++step) {
      const int i = undo ? block - 1 - step : step, with = pivots[i] - 1;
      std::swap(of_u[i], with < block ? of_u[with] : of_a[with - block]);
    }
  }
}

/// One block: exchanges, then L^-1 on the block of C1, then A (of m rows) off C2.
template <Real T>
void eliminate(const Blas& blas, int m, int columns, int block, const T* l, int ldl,
               const std::int32_t* pivots, const T* a, int lda, T* c1, int ldc1, T* c2, int ldc2) {
  if (columns == 0) return;
  exchange_rows(block, columns, pivots, c1, ldc1, c2, ldc2);
  blas.trsm<T>(Side::left, Triangle::lower, Transpose::no, Diagonal::unit, block, columns, 1, l, ldl, c1,
               ldc1);
  blas.gemm<T>(Transpose::no, Transpose::no, m, columns, block, -1, a, lda, c1, ldc1, 1, c2, ldc2);
}

}  // namespace detail

/// Factors the n x n triangle U on top of A of m x n in place: U becomes that of both, A the part of L below
/// it. What is below U's diagonal is not touched. `work` has (ib + m) ib elements. A pivot that is zero is left
/// there, for the next tile to offer another one. Returns 0, or the place, from 1, of the first pivot that is
/// not finite; what is right of its block is then not factored.
template <Real T>
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
    (void)blas.getrf<T>(ld, block, work, ld, pivots);  // a zero shows on the diagonal
    for (int i = 0; i < block; ++i)
      if (!std::isfinite(*at(work, ld, i, i)) || pivots[i] < i + 1 || pivots[i] > ld) return k + i + 1;
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

/// The same steps on C1 on top of C2, of n x columns (or more rows, not touched) and m x columns.
template <Real T>
void ssssm(const Blas& blas, int m, int n, int columns, const T* a, int lda,
           const PairFactors<const T, const std::int32_t>& left, T* c1, int ldc1, T* c2, int ldc2) {
  for (int k = 0; k < n; k += left.ib) {
    const std::ptrdiff_t first = k;
    detail::eliminate(blas, m, columns, std::min(left.ib, n - k), left.l + first * left.ldl, left.ldl,
                      left.pivots + k, a + first * lda, lda, c1 + k, ldc1, c2, ldc2);
  }
}

/// The transposed of all that ssssm() does, for who solves with A^T.
template <Real T>
void ssssm_transposed(const Blas& blas, int m, int n, int columns, const T* a, int lda,
                      const PairFactors<const T, const std::int32_t>& left, T* c1, int ldc1, T* c2,
                      int ldc2) {
  for (int k = (n - 1) / left.ib * left.ib; k >= 0; k -= left.ib) {
    const std::ptrdiff_t first = k;
    const int block = std::min(left.ib, n - k);
    blas.gemm<T>(Transpose::yes, Transpose::no, block, columns, m, -1, a + first * lda, lda, c2, ldc2, 1,
                 c1 + k, ldc1);
    blas.trsm<T>(Side::left, Triangle::lower, Transpose::yes, Diagonal::unit, block, columns, 1,
                 left.l + first * left.ldl, left.ldl, c1 + k, ldc1);
    detail::exchange_rows(block, columns, left.pivots + k, c1 + k, ldc1, c2, ldc2, true);
  }
}

}  // namespace fairlead::linalg
