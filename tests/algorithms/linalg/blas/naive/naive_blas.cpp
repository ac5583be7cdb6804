// As much of BLAS and LAPACK as a Cholesky factorization and a solve need, in the simplest loops: compiled
// with the sanitizers, which do not see into OpenBLAS. Column-major; unsupported arguments end the process.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

using Int = const std::int32_t*;
using Char = const char*;
using Length = std::size_t;

template <class T>
T& at(T* a, int ld, int i, int j) {
  return a[i + static_cast<std::ptrdiff_t>(j) * ld];
}
/// Element (i, j) of op(A).
template <class T>
T op(Char how, const T* a, int ld, int i, int j) {
  return *how == 'N' ? at(a, ld, i, j) : at(a, ld, j, i);
}

template <class T>
void gemm(Char ta, Char tb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta,
          T* c, int ldc) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      T sum = 0;
      for (int l = 0; l < k; ++l) sum += op(ta, a, lda, i, l) * op(tb, b, ldb, l, j);
      at(c, ldc, i, j) = alpha * sum + (beta == T(0) ? T(0) : beta * at(c, ldc, i, j));
    }
}

template <class T>
void syrk_lower(Char how, int n, int k, T alpha, const T* a, int lda, T beta, T* c, int ldc) {
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      T sum = 0;
      for (int l = 0; l < k; ++l) sum += op(how, a, lda, i, l) * op(how, a, lda, j, l);
      at(c, ldc, i, j) = alpha * sum + beta * at(c, ldc, i, j);
    }
}

/// x := L^-1 x, or L^-T x.
template <class T>
void solve_lower(Char how, int n, const T* l, int ld, T* x, int stride) {
  const bool forward = *how == 'N';
  for (int step = 0; step < n; ++step) {
    const int i = forward ? step : n - 1 - step;
    T value = x[static_cast<std::ptrdiff_t>(i) * stride];
    for (int k = forward ? 0 : i + 1; k < (forward ? i : n); ++k)
      value -= (forward ? at(l, ld, i, k) : at(l, ld, k, i)) * x[static_cast<std::ptrdiff_t>(k) * stride];
    x[static_cast<std::ptrdiff_t>(i) * stride] = value / at(l, ld, i, i);
  }
}

template <class T>
int potrf_lower(int n, T* a, int lda) {
  for (int j = 0; j < n; ++j) {
    T diagonal = at(a, lda, j, j);
    for (int k = 0; k < j; ++k) diagonal -= at(a, lda, j, k) * at(a, lda, j, k);
    if (!(diagonal > T(0))) return j + 1;
    at(a, lda, j, j) = std::sqrt(diagonal);
    for (int i = j + 1; i < n; ++i) {
      T value = at(a, lda, i, j);
      for (int k = 0; k < j; ++k) value -= at(a, lda, i, k) * at(a, lda, j, k);
      at(a, lda, i, j) = value / at(a, lda, j, j);
    }
  }
  return 0;
}

void need(bool holds) {
  if (!holds) std::abort();
}

template <class T>
void trsm_lower(Char side, Char triangle, Char how, Char unit, int m, int n, T alpha, const T* a, int lda,
                T* b, int ldb) {
  need(*triangle == 'L' && *unit == 'N' && alpha == T(1));
  if (*side == 'L')
    for (int j = 0; j < n; ++j) solve_lower(how, m, a, lda, b + static_cast<std::ptrdiff_t>(j) * ldb, 1);
  else  // X op(L) = B row by row: op(L)^T x = b
    for (int i = 0; i < m; ++i) solve_lower(*how == 'N' ? "T" : "N", n, a, lda, b + i, ldb);
}

}  // namespace

#define FAIRLEAD_NAIVE_BLAS(T, letter)                                                                       \
  void letter##gemm_(Char ta, Char tb, Int m, Int n, Int k, const T* alpha, const T* a, Int lda, const T* b, \
                     Int ldb, const T* beta, T* c, Int ldc, Length, Length) {                                \
    gemm(ta, tb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);                                      \
  }                                                                                                          \
  void letter##syrk_(Char triangle, Char how, Int n, Int k, const T* alpha, const T* a, Int lda,             \
                     const T* beta, T* c, Int ldc, Length, Length) {                                         \
    need(*triangle == 'L');                                                                                  \
    syrk_lower(how, *n, *k, *alpha, a, *lda, *beta, c, *ldc);                                                \
  }                                                                                                          \
  void letter##trsm_(Char side, Char triangle, Char how, Char unit, Int m, Int n, const T* alpha,            \
                     const T* a, Int lda, T* b, Int ldb, Length, Length, Length, Length) {                   \
    trsm_lower(side, triangle, how, unit, *m, *n, *alpha, a, *lda, b, *ldb);                                 \
  }                                                                                                          \
  void letter##gemv_(Char how, Int m, Int n, const T* alpha, const T* a, Int lda, const T* x, Int stride_x,  \
                     const T* beta, T* y, Int stride_y, Length) {                                            \
    need(*stride_x == 1 && *stride_y == 1);                                                                  \
    const int rows = *how == 'N' ? *m : *n, inner = *how == 'N' ? *n : *m;                                   \
    gemm(how, "N", rows, 1, inner, *alpha, a, *lda, x, inner, *beta, y, rows);                               \
  }                                                                                                          \
  void letter##trsv_(Char triangle, Char how, Char unit, Int n, const T* a, Int lda, T* x, Int stride,       \
                     Length, Length, Length) {                                                               \
    need(*triangle == 'L' && *unit == 'N');                                                                  \
    solve_lower(how, *n, a, *lda, x, *stride);                                                               \
  }                                                                                                          \
  void letter##potrf_(Char triangle, Int n, T* a, Int lda, std::int32_t* info, Length) {                     \
    need(*triangle == 'L');                                                                                  \
    *info = potrf_lower(*n, a, *lda);                                                                        \
  }                                                                                                          \
  void letter##symm_() { std::abort(); }                                                                     \
  void letter##trmm_() { std::abort(); }                                                                     \
  void letter##trtri_() { std::abort(); }

extern "C" {

#ifdef FAIRLEAD_PREFIXED_NAMES  // as in the OpenBLAS of Python's packages
#define ddot_ scipy_ddot_
FAIRLEAD_NAIVE_BLAS(double, scipy_d)
FAIRLEAD_NAIVE_BLAS(float, scipy_s)
#else
FAIRLEAD_NAIVE_BLAS(double, d)
FAIRLEAD_NAIVE_BLAS(float, s)
#endif

/// Indicates 32-bit integers.
double ddot_(Int n, const double* x, Int, const double* y, Int) {
  double sum = 0;
  for (int i = 0; i < *n; ++i) sum += x[i] * y[i];
  return sum;
}
}
