// The determinant of a matrix, which itself overflows for most matrices.
#pragma once

namespace fairlead::linalg {

/// A determinant: sign x exp(log_absolute).
struct LogDeterminant {
  int sign = 1;             ///< 1, -1, or 0 for a singular matrix
  double log_absolute = 0;  ///< the natural logarithm of the absolute value
};

}  // namespace fairlead::linalg
