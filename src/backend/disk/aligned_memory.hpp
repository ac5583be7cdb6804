// Aligned memory for direct I/O.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace fairlead::backend {

struct FreeMemory {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<std::byte, FreeMemory>;

/// Null if there is no memory. `bytes` is a multiple of `alignment`, a power of two.
inline AlignedMemory aligned_memory(Bytes bytes, Bytes alignment) {
  return AlignedMemory(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes)));
}

}  // namespace fairlead::backend
