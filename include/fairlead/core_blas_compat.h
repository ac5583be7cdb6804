/* PLASMA's kernels on tiles, CORE_dpotrf(...) etc. in double and single precision, as bodies of DPLASMA call them.
 * They are implemented with BLAS and LAPACK, which the program must link to. For C and C++. docs/jdf.md lists the
 * kernels. */
#ifndef FAIRLEAD_CORE_BLAS_COMPAT_H
#define FAIRLEAD_CORE_BLAS_COMPAT_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>
/* Some bodies call BLAS by its C interface, which the program's BLAS must have, too. */
#if defined(__has_include)
#if __has_include(<cblas.h>)
#include <cblas.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of PLASMA that these kernels correspond to. */
#define PLASMA_VERSION_MAJOR 2
#define PLASMA_VERSION_MINOR 8
#define PLASMA_VERSION_MICRO 0

/* The variants of a product that headers made from DPLASMA's files name. */
enum {
  DPLASMA_ZGEMM_NN = 1,
  DPLASMA_ZGEMM_NT,
  DPLASMA_ZGEMM_TN,
  DPLASMA_ZGEMM_TT,
  DPLASMA_ZGEMM_NN_SUMMA,
  DPLASMA_ZGEMM_NT_SUMMA,
  DPLASMA_ZGEMM_TN_SUMMA,
  DPLASMA_ZGEMM_TT_SUMMA,
  DPLASMA_CGEMM_NN = 1,
  DPLASMA_CGEMM_NT,
  DPLASMA_CGEMM_TN,
  DPLASMA_CGEMM_TT,
  DPLASMA_CGEMM_NN_SUMMA,
  DPLASMA_CGEMM_NT_SUMMA,
  DPLASMA_CGEMM_TN_SUMMA,
  DPLASMA_CGEMM_TT_SUMMA,
  DPLASMA_DGEMM_NN = 1,
  DPLASMA_DGEMM_NT,
  DPLASMA_DGEMM_TN,
  DPLASMA_DGEMM_TT,
  DPLASMA_DGEMM_NN_SUMMA,
  DPLASMA_DGEMM_NT_SUMMA,
  DPLASMA_DGEMM_TN_SUMMA,
  DPLASMA_DGEMM_TT_SUMMA,
  DPLASMA_SGEMM_NN = 1,
  DPLASMA_SGEMM_NT,
  DPLASMA_SGEMM_TN,
  DPLASMA_SGEMM_TT,
  DPLASMA_SGEMM_NN_SUMMA,
  DPLASMA_SGEMM_NT_SUMMA,
  DPLASMA_SGEMM_TN_SUMMA,
  DPLASMA_SGEMM_TT_SUMMA
};

typedef int PLASMA_enum;
typedef int PLASMA_bool;
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
  PlasmaOneNorm = 171,
  PlasmaRealOneNorm = 172,
  PlasmaTwoNorm = 173,
  PlasmaFrobeniusNorm = 174,
  PlasmaInfNorm = 175,
  PlasmaRealInfNorm = 176,
  PlasmaMaxNorm = 177,
  PlasmaRealMaxNorm = 178,
  PlasmaNoVec = 301,
  PlasmaVec = 302,
  PlasmaForward = 391,
  PlasmaBackward = 392,
  PlasmaColumnwise = 401,
  PlasmaRowwise = 402,
  PLASMA_SUCCESS = 0,
  PLASMA_FALSE = 0,
  PLASMA_TRUE = 1
};
/* The names in DPLASMA. */
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
  dplasmaRight = PlasmaRight,
  dplasmaOneNorm = PlasmaOneNorm,
  dplasmaRealOneNorm = PlasmaRealOneNorm,
  dplasmaTwoNorm = PlasmaTwoNorm,
  dplasmaFrobeniusNorm = PlasmaFrobeniusNorm,
  dplasmaInfNorm = PlasmaInfNorm,
  dplasmaRealInfNorm = PlasmaRealInfNorm,
  dplasmaMaxNorm = PlasmaMaxNorm,
  dplasmaRealMaxNorm = PlasmaRealMaxNorm,
  dplasmaNoVec = PlasmaNoVec,
  dplasmaVec = PlasmaVec,
  dplasmaForward = PlasmaForward,
  dplasmaBackward = PlasmaBackward,
  dplasmaColumnwise = PlasmaColumnwise,
  dplasmaRowwise = PlasmaRowwise
};
#ifndef CBLAS_SADDR
#define CBLAS_SADDR(number) (number)
#endif
#define coreblas_error(position, text) ((void)fprintf(stderr, "%s: argument %d: %s\n", __func__, position, text))
#define dplasma_dsqrt sqrt
#define dplasma_ssqrt sqrtf

/* The letter for BLAS. */
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
static inline const char* plasma_const(int word) {
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
#define dplasma_lapack_const(word) fairlead_letter(word)

/* Floating-point operations of the kernels on real numbers, from their definitions. */
static inline double fairlead_flops_gemm(double m, double n, double k) { return 2 * m * n * k; }
static inline double fairlead_flops_symm(int side, double m, double n) {
  return 2 * m * n * (side == PlasmaLeft ? m : n);
}
static inline double fairlead_flops_syrk(double k, double n) { return k * n * (n + 1); }
static inline double fairlead_flops_syr2k(double k, double n) { return 2 * k * n * n + n; }
static inline double fairlead_flops_trmm(int side, double m, double n) {
  return m * n * (side == PlasmaLeft ? m : n);
}
static inline double fairlead_flops_potrf(double n) { return n * (2 * n * n + 3 * n + 1) / 6; }
static inline double fairlead_flops_trtri(double n) { return n * (n * n + 2) / 3; }
static inline double fairlead_flops_lauum(double n) { return n * (2 * n * n + 3 * n + 1) / 6; }
static inline double fairlead_flops_getrf(double m, double n) {
  return m >= n ? n * n * (m - n / 3) : m * m * (n - m / 3);
}
static inline double fairlead_flops_geqrf(double m, double n) {
  return m >= n ? 2 * n * n * (m - n / 3) : 2 * m * m * (n - m / 3);
}
static inline double fairlead_flops_ormqr(int side, double m, double n, double k) {
  return side == PlasmaLeft ? 2 * n * k * (2 * m - k) : 2 * m * k * (2 * n - k);
}
#define FLOPS_DGEMM fairlead_flops_gemm
#define FLOPS_SGEMM fairlead_flops_gemm
#define FLOPS_DSYMM fairlead_flops_symm
#define FLOPS_SSYMM fairlead_flops_symm
#define FLOPS_DSYRK fairlead_flops_syrk
#define FLOPS_SSYRK fairlead_flops_syrk
#define FLOPS_DSYR2K fairlead_flops_syr2k
#define FLOPS_SSYR2K fairlead_flops_syr2k
#define FLOPS_DTRMM fairlead_flops_trmm
#define FLOPS_STRMM fairlead_flops_trmm
#define FLOPS_DTRSM fairlead_flops_trmm
#define FLOPS_STRSM fairlead_flops_trmm
#define FLOPS_DPOTRF fairlead_flops_potrf
#define FLOPS_SPOTRF fairlead_flops_potrf
#define FLOPS_DTRTRI fairlead_flops_trtri
#define FLOPS_STRTRI fairlead_flops_trtri
#define FLOPS_DLAUUM fairlead_flops_lauum
#define FLOPS_SLAUUM fairlead_flops_lauum
#define FLOPS_DGETRF fairlead_flops_getrf
#define FLOPS_SGETRF fairlead_flops_getrf
#define FLOPS_DGEQRF fairlead_flops_geqrf
#define FLOPS_SGEQRF fairlead_flops_geqrf
#define FLOPS_DORMQR fairlead_flops_ormqr
#define FLOPS_SORMQR fairlead_flops_ormqr

#define FAIRLEAD_T double
#define FAIRLEAD_NAME(before, name) before##d##name
#define FAIRLEAD_BLAS(name) fairlead_blas_d##name /* lapack.h may declare dpotrf_ differently */
#define FAIRLEAD_SYMBOL(name) __asm__("d" #name)
#include <fairlead/detail/core_blas_kernels.h>
#undef FAIRLEAD_T
#undef FAIRLEAD_NAME
#undef FAIRLEAD_BLAS
#undef FAIRLEAD_SYMBOL

#define FAIRLEAD_T float
#define FAIRLEAD_NAME(before, name) before##s##name
#define FAIRLEAD_BLAS(name) fairlead_blas_s##name /* lapack.h may declare spotrf_ differently */
#define FAIRLEAD_SYMBOL(name) __asm__("s" #name)
#include <fairlead/detail/core_blas_kernels.h>
#undef FAIRLEAD_T
#undef FAIRLEAD_NAME
#undef FAIRLEAD_BLAS
#undef FAIRLEAD_SYMBOL

#ifdef __cplusplus
}
#endif
#endif
