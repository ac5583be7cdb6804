// The determinant of a matrix, which itself overflows for most matrices.
#pragma once
#include <complex>

namespace fairlead::linalg {

/// A determinant: phase x exp(log_absolute).
struct LogDeterminant {
  int sign = 1;             ///< 1, -1, or 0 for a singular matrix; of a complex matrix 1 or 0
  double log_absolute = 0;  ///< the natural logarithm of the absolute value
  /// The determinant divided by its absolute value: of a real matrix the sign, 0 for a singular one.
  std::complex<double> phase = 1;
};

}  // namespace fairlead::linalg
