// The page size in which memory and the spill file are allocated: datum sizes are rounded up to it, capacities down.
#pragma once
#include <fairlead/ids.hpp>

namespace fairlead {

inline constexpr Bytes page_bytes = 4096;

constexpr Bytes whole_pages_for(Bytes bytes) noexcept {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}
constexpr Bytes whole_pages_in(Bytes bytes) noexcept { return bytes / page_bytes * page_bytes; }

}  // namespace fairlead
