// See allocation_hook.hpp. Replaces the global operators of this test program.
#include "graph/allocation_hook.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace fairlead::tests {
namespace {
thread_local std::function<void()> action_at_next;
thread_local std::size_t allocations_so_far = 0, deallocations_so_far = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations_so_far;
  if (action_at_next) std::exchange(action_at_next, nullptr)();
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) throw std::bad_alloc();
  return memory;
}
void release(void* memory) noexcept {
  deallocations_so_far += memory != nullptr;
  std::free(memory);
}
constexpr std::size_t usual = alignof(std::max_align_t);
}  // namespace

void at_next_allocation(std::function<void()> action) { action_at_next = std::move(action); }
std::size_t allocations() noexcept { return allocations_so_far; }
std::size_t deallocations() noexcept { return deallocations_so_far; }

}  // namespace fairlead::tests

using fairlead::tests::allocate;
using fairlead::tests::release;
using fairlead::tests::usual;

void* operator new(std::size_t bytes) { return allocate(bytes, usual); }
void* operator new[](std::size_t bytes) { return allocate(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
