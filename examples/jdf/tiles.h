/* Functions for the bodies of these JDF files: PaRSEC's description of a matrix, and BLAS and LAPACK on its tiles. */
#ifndef TILES_H
#define TILES_H
#include <fairlead/core_blas_compat.h>
#include <fairlead/parsec_compat.h>

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
            const double *alpha, const double *a, const int *lda, double *b, const int *ldb);
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha, const double *a,
            const int *lda, const double *beta, double *c, const int *ldc);
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);

typedef parsec_tiled_matrix_t tiled_matrix;

static inline int tile_dpotrf(char uplo, int n, double *a, int lda) {
  int info = 0;
  dpotrf_(&uplo, &n, a, &lda, &info);
  return info;
}
static inline void tile_dtrsm(char side, char uplo, char trans, char diag, int m, int n, double alpha, const double *a,
                              int lda, double *b, int ldb) {
  dtrsm_(&side, &uplo, &trans, &diag, &m, &n, &alpha, a, &lda, b, &ldb);
}
static inline void tile_dsyrk(char uplo, char trans, int n, int k, double alpha, const double *a, int lda, double beta,
                              double *c, int ldc) {
  dsyrk_(&uplo, &trans, &n, &k, &alpha, a, &lda, &beta, c, &ldc);
}
static inline void tile_dgemm(char transa, char transb, int m, int n, int k, double alpha, const double *a, int lda,
                              const double *b, int ldb, double beta, double *c, int ldc) {
  dgemm_(&transa, &transb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}
/* A = L U, with a unit diagonal of L. Returns the number of the first column, from 1, with a zero pivot, or 0. */
static inline int tile_dgetrf_without_pivots(int m, int n, double *a, int lda) {
  for (int k = 0; k < m && k < n; ++k) {
    double *const column = a + (size_t)k * (size_t)lda;
    if (column[k] == 0) return k + 1;
    for (int i = k + 1; i < m; ++i) column[i] /= column[k];
    for (int j = k + 1; j < n; ++j) {
      double *const other = a + (size_t)j * (size_t)lda;
      for (int i = k + 1; i < m; ++i) other[i] -= column[i] * other[k];
    }
  }
  return 0;
}
#endif
