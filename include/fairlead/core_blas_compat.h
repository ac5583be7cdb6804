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

#define FAIRLEAD_T double
#define FAIRLEAD_NAME(before, name) before##d##name
#define FAIRLEAD_BLAS(name) d##name
#include <fairlead/detail/core_blas_kernels.h>
#undef FAIRLEAD_T
#undef FAIRLEAD_NAME
#undef FAIRLEAD_BLAS

#define FAIRLEAD_T float
#define FAIRLEAD_NAME(before, name) before##s##name
#define FAIRLEAD_BLAS(name) s##name
#include <fairlead/detail/core_blas_kernels.h>
#undef FAIRLEAD_T
#undef FAIRLEAD_NAME
#undef FAIRLEAD_BLAS

#ifdef __cplusplus
}
#endif
#endif
