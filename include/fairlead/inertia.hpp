// The inertia of a symmetric or Hermitian matrix.
#pragma once
#include <cstdint>

namespace fairlead::linalg {

/// The numbers of eigenvalues by their sign.
struct Inertia {
  std::int64_t positive = 0, negative = 0, zero = 0;
  bool operator==(const Inertia&) const = default;
};

}  // namespace fairlead::linalg
