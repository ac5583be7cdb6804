// Cache lines fetched ahead of their use, of objects that may be none, or gone by now: nothing of them is read.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fairlead {

enum class FetchedFor { reading, writing };

/// Fetches `bytes` bytes from `object` on, by lines of 64. Addresses are worked out as numbers: those of a null pointer,
/// or of what is no array, may be made in no other way.
template <FetchedFor use>
void prefetch(const void* object, std::size_t bytes) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(object);
  for (std::size_t at = 0; at < bytes; at += 64)
    __builtin_prefetch(reinterpret_cast<const void*>(from + at), use == FetchedFor::writing ? 1 : 0);
}

}  // namespace fairlead
