// The part of a BLAS with 64-bit integers that is needed to detect them.
#include <cstdint>

extern "C" {

double ddot_(const std::int64_t* n, const double* x, const std::int64_t* stride_x, const double* y,
             const std::int64_t* stride_y) {
  double sum = 0;
  for (std::int64_t i = 0; i < *n; ++i) sum += x[i * *stride_x] * y[i * *stride_y];
  return sum;
}

void dgemm_() {}
}
