/* What the kernels of <fairlead/core_blas_compat.h> that LU with incremental pivoting has need of BLAS and LAPACK, in plain loops, so
 * that no library of linear algebra is needed. Each has only the cases that occur. */
#include <assert.h>
#include <stddef.h>

#define BLAS_OF(T, p)                                                                                            \
  void p##gemm_(const char *transa, const char *transb, const int *m, const int *n, const int *depth,            \
                const T *alpha, const T *a, const int *lda, const T *b, const int *ldb, const T *beta, T *c,      \
                const int *ldc) {                                                                                \
    assert(*transa == 'N' && *transb == 'N' && *beta == 1);                                                      \
    for (int j = 0; j < *n; ++j)                                                                                 \
      for (int k = 0; k < *depth; ++k)                                                                           \
        for (int i = 0; i < *m; ++i)                                                                             \
          c[i + j * *ldc] += *alpha * a[i + k * *lda] * b[k + j * *ldb];                                         \
  }                                                                                                              \
  void p##trsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,           \
                const int *n, const T *alpha, const T *a, const int *lda, T *b, const int *ldb) {                \
    assert(*side == 'L' && *uplo == 'L' && *trans == 'N' && *diag == 'U' && *alpha == 1);                        \
    for (int j = 0; j < *n; ++j)                                                                                 \
      for (int k = 0; k < *m; ++k)                                                                               \
        for (int i = k + 1; i < *m; ++i) b[i + j * *ldb] -= a[i + k * *lda] * b[k + j * *ldb];                   \
  }                                                                                                              \
  static void p##exchange(T *a, int lda, int columns, int first, int second) {                                   \
    for (int j = 0; j < columns; ++j) {                                                                          \
      const T kept = a[first + j * lda];                                                                         \
      a[first + j * lda] = a[second + j * lda];                                                                  \
      a[second + j * lda] = kept;                                                                                \
    }                                                                                                            \
  }                                                                                                              \
  void p##laswp_(const int *n, T *a, const int *lda, const int *first, const int *last, const int *pivots,       \
                 const int *step) {                                                                              \
    assert(*step == 1);                                                                                          \
    for (int i = *first - 1; i < *last; ++i) p##exchange(a, *lda, *n, i, pivots[i] - 1);                         \
  }                                                                                                              \
  void p##getf2_(const int *m, const int *n, T *a, const int *lda, int *pivots, int *info) {                     \
    *info = 0;                                                                                                   \
    for (int k = 0; k < *m && k < *n; ++k) {                                                                     \
      T *const column = a + k * *lda;                                                                            \
      int largest = k;                                                                                           \
      for (int i = k + 1; i < *m; ++i)                                                                           \
        if (column[i] * column[i] > column[largest] * column[largest]) largest = i;                              \
      pivots[k] = largest + 1;                                                                                   \
      p##exchange(a, *lda, *n, k, largest);                                                                      \
      if (column[k] == 0 && *info == 0) *info = k + 1;                                                           \
      if (column[k] == 0) continue;                                                                              \
      for (int i = k + 1; i < *m; ++i) column[i] /= column[k];                                                   \
      for (int j = k + 1; j < *n; ++j)                                                                           \
        for (int i = k + 1; i < *m; ++i) a[i + j * *lda] -= column[i] * a[k + j * *lda];                         \
    }                                                                                                            \
  }                                                                                                              \
  void p##lacpy_(const char *uplo, const int *m, const int *n, const T *a, const int *lda, T *b,                 \
                 const int *ldb) {                                                                               \
    assert(*uplo == 'A');                                                                                        \
    for (int j = 0; j < *n; ++j)                                                                                 \
      for (int i = 0; i < *m; ++i) b[i + j * *ldb] = a[i + j * *lda];                                            \
  }

BLAS_OF(double, d)
BLAS_OF(float, s)
