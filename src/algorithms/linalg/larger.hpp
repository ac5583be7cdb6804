// A maximum that keeps what is not a number: std::max would lose it, and with it that a result is worthless.
#pragma once
#include <cmath>

namespace fairlead::linalg {

/// The larger, or NaN if one of them is.
inline double larger(double a, double b) noexcept { return std::isnan(a) || a >= b ? a : b; }

}  // namespace fairlead::linalg
