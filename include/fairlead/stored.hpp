// The parts of a symmetric matrix that are stored.
#pragma once
#include <cstdint>

namespace fairlead::linalg {

enum class Stored : std::uint8_t {
  both,   ///< both triangles, equal except for some roundings: the lower one is used
  mean,   ///< both triangles, with larger differences: their mean is used
  lower,  ///< the lower triangle; elements above it are ignored
  upper,  ///< the upper triangle
};

}  // namespace fairlead::linalg
