// See failing_new.hpp.
#include "allocation/failing_new.hpp"

#include <execinfo.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/random.hpp"

namespace fairlead::allocation {

namespace {

std::atomic<std::uint64_t> asked_for{0}, first_to_fail{0}, first_to_succeed{0};
void* frames[48];
std::atomic<int> frame_count{0};
std::atomic<std::uint64_t*> places{nullptr};
std::size_t most_places = 0;
std::atomic<std::size_t> in_use{0};

std::uint64_t this_place() {
  void* calls[48];
  std::uint64_t place = 0;
  for (int i = 0, count = backtrace(calls, 48); i < count; ++i)
    place = Random::mix(place ^ reinterpret_cast<std::uintptr_t>(calls[i]));
  return place;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  const std::uint64_t number = asked_for.fetch_add(1) + 1;
  if (number >= first_to_fail.load() && number < first_to_succeed.load()) {
    if (number == first_to_fail.load()) frame_count = backtrace(frames, 48);
    throw std::bad_alloc();
  }
  if (std::uint64_t* const noted = places.load(); noted != nullptr && number <= most_places)
    noted[number - 1] = this_place();
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    memory = std::malloc(bytes == 0 ? 1 : bytes);
  } else if (posix_memalign(&memory, alignment, bytes) != 0) {
    memory = nullptr;
  }
  if (memory == nullptr) throw std::bad_alloc();
  in_use += malloc_usable_size(memory);
  return memory;
}

void release(void* memory) noexcept {
  in_use -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void fail(std::uint64_t first, std::uint64_t in_a_row) {
  void* loads_its_library[1];
  backtrace(loads_its_library, 1);
  asked_for = 0;
  first_to_succeed = in_a_row > ~first ? ~std::uint64_t{0} : first + in_a_row;
  first_to_fail = first;
}
void note_places(std::uint64_t* into, std::size_t most) {
  most_places = most;
  places = into;
}
void never_fail() { first_to_succeed = 0; }
std::uint64_t counted() { return asked_for; }
std::size_t bytes_in_use() { return in_use; }
void tell_here() noexcept {
  void* calls[48];
  backtrace_symbols_fd(calls, backtrace(calls, 48), STDERR_FILENO);
}
void tell_where() noexcept { backtrace_symbols_fd(frames, frame_count, STDERR_FILENO); }

}  // namespace fairlead::allocation

void* operator new(std::size_t bytes) { return fairlead::allocation::allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return fairlead::allocation::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes) { return fairlead::allocation::allocate(bytes, 1); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return fairlead::allocation::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { fairlead::allocation::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { fairlead::allocation::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { fairlead::allocation::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  fairlead::allocation::release(memory);
}
void operator delete[](void* memory) noexcept { fairlead::allocation::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { fairlead::allocation::release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { fairlead::allocation::release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  fairlead::allocation::release(memory);
}
