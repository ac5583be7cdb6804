/* What the bodies of the examples call, in plain loops, so that no library of linear algebra is needed. Each has only the
 * cases that occur. */
#ifndef TILES_H
#define TILES_H
#include <fairlead/core_blas_compat.h>
#include <fairlead/parsec_compat.h>

typedef parsec_tiled_matrix_t tiled_matrix;

#define TILES_OF(T, p)                                                                                        \
  /* The lower triangle. */                                                                                   \
  static inline int tile_##p##potrf(char uplo, int n, T *a, int lda) {                                        \
    assert(uplo == 'L');                                                                                      \
    for (int k = 0; k < n; ++k) {                                                                             \
      if (!(a[k + k * lda] > 0)) return k + 1;                                                                \
      a[k + k * lda] = (T)sqrt(a[k + k * lda]);                                                               \
      for (int i = k + 1; i < n; ++i) a[i + k * lda] /= a[k + k * lda];                                       \
      for (int j = k + 1; j < n; ++j)                                                                         \
        for (int i = j; i < n; ++i) a[i + j * lda] -= a[i + k * lda] * a[j + k * lda];                        \
    }                                                                                                         \
    return 0;                                                                                                 \
  }                                                                                                           \
  /* B := B A^-T of a lower one, B A^-1 of an upper one, or A^-1 B of a lower one with ones. */               \
  static inline void tile_##p##trsm(char side, char uplo, char trans, char diag, int m, int n, T alpha,       \
                                    const T *a, int lda, T *b, int ldb) {                                     \
    assert(alpha == 1);                                                                                       \
    if (side == 'R') {                                                                                        \
      assert(diag == 'N' && (uplo == 'L') == (trans == 'T'));                                                 \
      for (int k = 0; k < n; ++k)                                                                             \
        for (int i = 0; i < m; ++i) {                                                                         \
          T sum = b[i + k * ldb];                                                                             \
          for (int j = 0; j < k; ++j)                                                                         \
            sum -= b[i + j * ldb] * (uplo == 'L' ? a[k + j * lda] : a[j + k * lda]);                          \
          b[i + k * ldb] = sum / a[k + k * lda];                                                              \
        }                                                                                                     \
    } else {                                                                                                  \
      assert(uplo == 'L' && trans == 'N' && diag == 'U');                                                     \
      for (int j = 0; j < n; ++j)                                                                             \
        for (int k = 0; k < m; ++k)                                                                           \
          for (int i = k + 1; i < m; ++i) b[i + j * ldb] -= a[i + k * lda] * b[k + j * ldb];                  \
    }                                                                                                         \
  }                                                                                                           \
  static inline void tile_##p##gemm(char transa, char transb, int m, int n, int depth, T alpha, const T *a,   \
                                    int lda, const T *b, int ldb, T beta, T *c, int ldc) {                    \
    assert(transa == 'N');                                                                                    \
    for (int j = 0; j < n; ++j)                                                                               \
      for (int i = 0; i < m; ++i) {                                                                           \
        T sum = 0;                                                                                            \
        for (int k = 0; k < depth; ++k)                                                                       \
          sum += a[i + k * lda] * (transb == 'T' ? b[j + k * ldb] : b[k + j * ldb]);                          \
        c[i + j * ldc] = alpha * sum + beta * c[i + j * ldc];                                                 \
      }                                                                                                       \
  }                                                                                                           \
  static inline void tile_##p##syrk(char uplo, char trans, int n, int depth, T alpha, const T *a, int lda,    \
                                    T beta, T *c, int ldc) {                                                  \
    assert(uplo == 'L' && trans == 'N');                                                                      \
    for (int j = 0; j < n; ++j)                                                                               \
      for (int i = j; i < n; ++i) {                                                                           \
        T sum = 0;                                                                                            \
        for (int k = 0; k < depth; ++k) sum += a[i + k * lda] * a[j + k * lda];                               \
        c[i + j * ldc] = alpha * sum + beta * c[i + j * ldc];                                                 \
      }                                                                                                       \
  }                                                                                                           \
  static inline void tile_##p##scale(int m, int n, T alpha, T *a, int lda) {                                  \
    for (int j = 0; j < n; ++j)                                                                               \
      for (int i = 0; i < m; ++i) a[i + j * lda] *= alpha;                                                    \
  }                                                                                                           \
  static inline void tile_##p##geadd(int m, int n, T alpha, const T *a, int lda, T beta, T *b, int ldb) {     \
    for (int j = 0; j < n; ++j)                                                                               \
      for (int i = 0; i < m; ++i) b[i + j * ldb] = alpha * a[i + j * lda] + beta * b[i + j * ldb];            \
  }                                                                                                           \
  static inline void tile_##p##lacpy(char what, int m, int n, const T *a, int lda, T *b, int ldb) {           \
    for (int j = 0; j < n; ++j)                                                                               \
      for (int i = 0; i < m; ++i)                                                                             \
        if (what == 'A' || (what == 'L' ? i >= j : i <= j)) b[i + j * ldb] = a[i + j * lda];                  \
  }                                                                                                           \
  static inline void tile_##p##laset(char what, int m, int n, T alpha, T beta, T *a, int lda) {               \
    assert(what == 'A');                                                                                      \
    for (int j = 0; j < n; ++j)                                                                               \
      for (int i = 0; i < m; ++i) a[i + j * lda] = i == j ? beta : alpha;                                     \
  }                                                                                                           \
  static inline int tile_##p##getrf_without_pivots(int m, int n, T *a, int lda) {                             \
    for (int k = 0; k < m && k < n; ++k) {                                                                    \
      if (a[k + k * lda] == 0) return k + 1;                                                                  \
      for (int i = k + 1; i < m; ++i) a[i + k * lda] /= a[k + k * lda];                                       \
      for (int j = k + 1; j < n; ++j)                                                                         \
        for (int i = k + 1; i < m; ++i) a[i + j * lda] -= a[i + k * lda] * a[k + j * lda];                    \
    }                                                                                                         \
    return 0;                                                                                                 \
  }

TILES_OF(double, d)
TILES_OF(float, s)
#undef TILES_OF
#endif
