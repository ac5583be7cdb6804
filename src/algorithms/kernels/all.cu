// All of Fairlead's kernels for CUDA devices, as one image.
#include "panel_solve.cu"
#include "qr.cu"
