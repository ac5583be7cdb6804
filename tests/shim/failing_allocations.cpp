// A library to be loaded before all others: it makes allocations of the program fail, as ALLOCATIONS says: "first:in a row:
// file". Allocations are counted from the start of main(), and their number is written to the file. A program that runs for a
// minute has hung and ends by SIGALRM.
//
// Those before main() are static initialization: of the C++ library, of fmt and of some strings that Fairlead keeps. An
// exception there ends a process by a signal before any of its functions could handle it, whatever the program.
//
// Those of Fairlead count: operator new, malloc and its kin where the caller is the program itself or a library of Fairlead,
// libstdc++ or fmt, as shown by the return address. Allocations by a BLAS, hwloc, MPI or the C library themselves do not: Fairlead
// cannot handle their failure.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

struct Range {
  std::uintptr_t begin = 0, end = 0;
};
std::array<Range, 16> ours;
std::size_t ours_count = 0;
std::atomic<std::uint64_t> asked_for{0};
std::atomic<bool> in_main{false};
std::uint64_t first_to_fail = 0, in_a_row = 0;
int answer = -1;

int note_ours(dl_phdr_info* info, std::size_t, void*) {
  const char* const name = info->dlpi_name;
  const bool is_ours = name[0] == '\0' || std::strstr(name, "libfairlead") != nullptr ||
                       std::strstr(name, "libstdc++") != nullptr || std::strstr(name, "libfmt") != nullptr;
  for (int i = 0; is_ours && i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || ours_count == ours.size()) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    ours[ours_count++] = {begin, begin + part.p_memsz};
  }
  return 0;
}

std::uint64_t number_at(const char*& text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text, &end, 10);
  text = *end == ':' ? end + 1 : end;
  return number;
}

// Children of the program have their own allocations.
__attribute__((constructor)) void begin() {
  const char* plan = std::getenv("ALLOCATIONS");
  if (plan == nullptr) return;
  first_to_fail = number_at(plan);
  in_a_row = number_at(plan);
  answer = open(plan, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  unsetenv("ALLOCATIONS");
  unsetenv("LD_PRELOAD");
  constexpr unsigned seconds_until_it_hangs = 60;
  alarm(seconds_until_it_hangs);
  dl_iterate_phdr(note_ours, nullptr);
}

__attribute__((destructor)) void end() {
  const std::uint64_t count = asked_for;
  if (answer >= 0 && pwrite(answer, &count, sizeof count, 0) != sizeof count) answer = -1;
}

bool fails(const void* caller) {
  if (!in_main.load(std::memory_order_relaxed)) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  bool is_ours = false;
  for (std::size_t i = 0; i < ours_count; ++i)
    is_ours = is_ours || (address >= ours[i].begin && address < ours[i].end);
  if (!is_ours) return false;
  const std::uint64_t number = asked_for.fetch_add(1) + 1;
  if (number < first_to_fail || number - first_to_fail >= in_a_row) return false;
  errno = ENOMEM;
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment, const void* caller) {
  for (;;) {
    void* const memory = fails(caller)                            ? nullptr
                         : alignment <= alignof(std::max_align_t) ? __libc_malloc(bytes)
                                                                  : __libc_memalign(alignment, bytes);
    if (memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;

int counted_main(int count, char** words, char** environment) {
  in_main = true;
  const int status = program_main(count, words, environment);
  in_main = false;
  return status;
}

}  // namespace

// What the C library's start code calls; its own one then calls counted_main().
extern "C" int __libc_start_main(Main main, int count, char** words, void (*before)(), void (*after)(),
                                 void (*loader)(), void* stack) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  program_main = main;
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(counted_main, count, words, before, after, loader, stack);
}

#define CALLER __builtin_return_address(0)

extern "C" {
void* malloc(std::size_t bytes) { return fails(CALLER) ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) {
  return fails(CALLER) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  return fails(CALLER) ? nullptr : __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return fails(CALLER) ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails(CALLER) ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  void* const got = fails(CALLER) ? nullptr : __libc_memalign(alignment, bytes);
  if (got == nullptr) return ENOMEM;
  *memory = got;
  return 0;
}
}

void* operator new(std::size_t bytes) { return allocate(bytes, 1, CALLER); }
void* operator new[](std::size_t bytes) { return allocate(bytes, 1, CALLER); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment), CALLER);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment), CALLER);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return fails(CALLER) ? nullptr : __libc_malloc(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return fails(CALLER) ? nullptr : __libc_malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
