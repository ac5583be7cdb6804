// Kinds of workers that have a body, a bit each.
#pragma once
#include <cstdint>

namespace fairlead::schedule::heteroprio {

inline constexpr std::uint32_t cpu = 1, emulated = 2, cuda = 4;

}  // namespace fairlead::schedule::heteroprio
