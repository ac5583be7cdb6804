// See allocation_hook.hpp. Replaces the global operators of this test program.
#include "graph/allocation_hook.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace fairlead::tests {
thread_local std::function<void()> at_next_allocation;
thread_local std::size_t allocations = 0;

namespace {
void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  if (at_next_allocation) std::exchange(at_next_allocation, nullptr)();
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) throw std::bad_alloc();
  return memory;
}
constexpr std::size_t usual = alignof(std::max_align_t);
}  // namespace
}  // namespace fairlead::tests

using fairlead::tests::allocate;
using fairlead::tests::usual;

void* operator new(std::size_t bytes) { return allocate(bytes, usual); }
void* operator new[](std::size_t bytes) { return allocate(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
