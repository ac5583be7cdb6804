// A maximum that propagates NaN, which std::max would lose.
#pragma once
#include <cmath>

namespace fairlead::linalg {

/// The larger value, or NaN if one is NaN.
inline double larger(double a, double b) noexcept { return std::isnan(a) || a >= b ? a : b; }

}  // namespace fairlead::linalg
