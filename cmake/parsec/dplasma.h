/* JDF files include this name of DPLASMA's; Fairlead has what it means in headers of its own. */
#include <fairlead/core_blas_compat.h>
#include <fairlead/parsec_compat.h>
