// Whether a sanitizer watches this process: what is repeated with many seeds is then repeated with fewer.
#pragma once

namespace fairlead::tests {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace fairlead::tests
