/* PLASMA's kernels on tiles as the bodies of DPLASMA call them, CORE_dpotrf(...) and its likes in double and float, over
 * BLAS and LAPACK, which the program links to. In C and C++. docs/jdf.md has a list of those that are here.
 */
#ifndef FAIRLEAD_CORE_BLAS_COMPAT_H
#define FAIRLEAD_CORE_BLAS_COMPAT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int PLASMA_enum;
typedef int plasma_enum_t;
typedef int dplasma_enum_t;

enum {
  PlasmaNoTrans = 111,
  PlasmaTrans = 112,
  PlasmaConjTrans = 113,
  PlasmaUpper = 121,
  PlasmaLower = 122,
  PlasmaUpperLower = 123,
  PlasmaNonUnit = 131,
  PlasmaUnit = 132,
  PlasmaLeft = 141,
  PlasmaRight = 142,
  PLASMA_SUCCESS = 0
};
/* As DPLASMA calls them. */
enum {
  dplasmaNoTrans = PlasmaNoTrans,
  dplasmaTrans = PlasmaTrans,
  dplasmaConjTrans = PlasmaConjTrans,
  dplasmaUpper = PlasmaUpper,
  dplasmaLower = PlasmaLower,
  dplasmaUpperLower = PlasmaUpperLower,
  dplasmaNonUnit = PlasmaNonUnit,
  dplasmaUnit = PlasmaUnit,
  dplasmaLeft = PlasmaLeft,
  dplasmaRight = PlasmaRight
};

/* The letter by which BLAS knows it. */
static inline char fairlead_letter(int word) {
  switch (word) {
    case PlasmaNoTrans:
    case PlasmaNonUnit:
      return 'N';
    case PlasmaTrans:
    case PlasmaConjTrans:
      return 'T';
    case PlasmaUpper:
    case PlasmaUnit:
      return 'U';
    case PlasmaLower:
    case PlasmaLeft:
      return 'L';
    case PlasmaRight:
      return 'R';
    default:
      return 'A';
  }
}
static inline const char *plasma_const(int word) {
  switch (word) {
    case PlasmaNoTrans:
      return "NoTrans";
    case PlasmaTrans:
    case PlasmaConjTrans:
      return "Trans";
    case PlasmaUpper:
      return "Upper";
    case PlasmaLower:
      return "Lower";
    case PlasmaNonUnit:
      return "NonUnit";
    case PlasmaUnit:
      return "Unit";
    case PlasmaLeft:
      return "Left";
    case PlasmaRight:
      return "Right";
    default:
      return "All";
  }
}
#define lapack_const(word) fairlead_letter(word)
#define dplasma_const(word) plasma_const(word)

#define FAIRLEAD_CORE_BLAS(T, p)                                                                                       \
  void p##potrf_(const char *uplo, const int *n, T *a, const int *lda, int *info);                                    \
  void p##trsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,  \
                const T *alpha, const T *a, const int *lda, T *b, const int *ldb);                                    \
  void p##syrk_(const char *uplo, const char *trans, const int *n, const int *k, const T *alpha, const T *a,          \
                const int *lda, const T *beta, T *c, const int *ldc);                                                 \
  void p##gemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const T *alpha,     \
                const T *a, const int *lda, const T *b, const int *ldb, const T *beta, T *c, const int *ldc);         \
                                                                                                                       \
  static inline void CORE_##p##potrf(int uplo, int n, T *a, int lda, int *info) {                                     \
    const char letter = fairlead_letter(uplo);                                                                         \
    p##potrf_(&letter, &n, a, &lda, info);                                                                             \
  }                                                                                                                    \
  static inline void CORE_##p##trsm(int side, int uplo, int trans, int diag, int m, int n, T alpha, const T *a,       \
                                    int lda, T *b, int ldb) {                                                          \
    const char letters[] = {fairlead_letter(side), fairlead_letter(uplo), fairlead_letter(trans),                     \
                            fairlead_letter(diag)};                                                                    \
    p##trsm_(letters, letters + 1, letters + 2, letters + 3, &m, &n, &alpha, a, &lda, b, &ldb);                        \
  }                                                                                                                    \
  static inline void CORE_##p##syrk(int uplo, int trans, int n, int k, T alpha, const T *a, int lda, T beta, T *c,    \
                                    int ldc) {                                                                         \
    const char letters[] = {fairlead_letter(uplo), fairlead_letter(trans)};                                           \
    p##syrk_(letters, letters + 1, &n, &k, &alpha, a, &lda, &beta, c, &ldc);                                          \
  }                                                                                                                    \
  static inline void CORE_##p##herk(int uplo, int trans, int n, int k, T alpha, const T *a, int lda, T beta, T *c,    \
                                    int ldc) {                                                                         \
    CORE_##p##syrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc);                                                   \
  }                                                                                                                    \
  static inline void CORE_##p##gemm(int transa, int transb, int m, int n, int k, T alpha, const T *a, int lda,        \
                                    const T *b, int ldb, T beta, T *c, int ldc) {                                      \
    const char letters[] = {fairlead_letter(transa), fairlead_letter(transb)};                                        \
    p##gemm_(letters, letters + 1, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);                             \
  }

FAIRLEAD_CORE_BLAS(double, d)
FAIRLEAD_CORE_BLAS(float, s)
#undef FAIRLEAD_CORE_BLAS

#ifdef __cplusplus
}
#endif
#endif
