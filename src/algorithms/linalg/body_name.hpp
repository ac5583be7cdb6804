// Names of the bodies of codelets for one type of elements: durations of earlier runs are kept by codelet and body, and a
// kernel in single precision takes about half as long as one in double precision with as many operations.
#pragma once
#include <type_traits>

#include "base/scalar.hpp"

namespace fairlead::linalg {

/// As `--type` has it.
template <class T>
inline constexpr const char* body_of_type = std::is_same_v<RealOf<T>, float>
                                                ? (is_complex_number<T> ? "c8" : "f4")
                                                : (is_complex_number<T> ? "c16" : "f8");

}  // namespace fairlead::linalg
