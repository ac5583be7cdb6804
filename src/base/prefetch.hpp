// Prefetches cache lines. The address may be null or dangling: nothing is read.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fairlead {

enum class FetchedFor { reading, writing };

/// Prefetches `bytes` bytes from `object` on, in lines of 64. Computes addresses as integers: pointer arithmetic on
/// null or outside of an array is undefined.
template <FetchedFor use>
void prefetch(const void* object, std::size_t bytes) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(object);
  for (std::size_t at = 0; at < bytes; at += 64)
    __builtin_prefetch(reinterpret_cast<const void*>(from + at), use == FetchedFor::writing ? 1 : 0);
}

}  // namespace fairlead
