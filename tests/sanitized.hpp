// Whether a sanitizer watches this process: what is repeated with many seeds is then repeated with fewer. Compilers tell in
// ways of their own; tests/CMakeLists.txt knows.
#pragma once

namespace fairlead::tests {

#ifdef FAIRLEAD_ADDRESS_SANITIZED
inline constexpr bool address_sanitized = true;
#else
inline constexpr bool address_sanitized = false;
#endif

#ifdef FAIRLEAD_THREAD_SANITIZED
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif

inline constexpr bool sanitized = address_sanitized || thread_sanitized;

}  // namespace fairlead::tests
