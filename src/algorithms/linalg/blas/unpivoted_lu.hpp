// LU factorization of a tile without pivoting, which LAPACK does not have.
#pragma once
#include <cstddef>

#include "algorithms/linalg/blas/blas.hpp"

namespace fairlead::linalg {

/// A = L U in place for an m x n matrix with m >= n: the unit lower triangle L below the diagonal, U on and above it.
/// Returns 0, or the index, from 1, of the first pivot that is zero or not finite; the columns right of it are then not
/// factored.
///
/// Recursive on halves of the columns, so that nearly all operations are in products: Toledo 1997 ("Locality of
/// reference in LU decomposition with partial pivoting"), without the pivoting.
template <Scalar T>
[[nodiscard]] int unpivoted_lu(const Blas& blas, int m, int n, T* a, int lda) {
  constexpr int narrow = 8;
  const auto at = [=](int i, int j) { return a + i + static_cast<std::ptrdiff_t>(j) * lda; };
  if (n <= narrow) {
    for (int k = 0; k < n; ++k) {
      const T pivot = *at(k, k);
      if (pivot == T(0) || !is_finite_number(pivot)) return k + 1;
      T* const column = at(0, k);
      for (int i = k + 1; i < m; ++i) column[i] /= pivot;
      for (int j = k + 1; j < n; ++j) {
        T* const other = at(0, j);
        const T factor = other[k];
        for (int i = k + 1; i < m; ++i) other[i] -= column[i] * factor;
      }
    }
    return 0;
  }
  const int left = n / 2, right = n - left;
  if (const int bad = unpivoted_lu(blas, m, left, a, lda); bad != 0) return bad;
  blas.trsm<T>(Side::left, Triangle::lower, Transpose::no, Diagonal::unit, left, right, 1, a, lda,
               at(0, left), lda);
  blas.gemm<T>(Transpose::no, Transpose::no, m - left, right, left, -1, at(left, 0), lda, at(0, left), lda, 1,
               at(left, left), lda);
  const int bad = unpivoted_lu(blas, m - left, right, at(left, left), lda);
  return bad == 0 ? 0 : left + bad;
}

}  // namespace fairlead::linalg
