// Implements the arena with mmap and madvise.
#include "backend/arena.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>

namespace fairlead::backend {
namespace {

constexpr Bytes huge_page = Bytes{2} << 20;

// Kernel 5.14 and later; the build machine's headers may be older than the running kernel.
#ifdef MADV_POPULATE_WRITE
constexpr int populate_write = MADV_POPULATE_WRITE;
#else
constexpr int populate_write = 23;
#endif

[[noreturn]] void refuse(const char* what, Bytes bytes, Bytes capacity, int error_number) {
  throw SystemError(
      fmt::format("cannot {} {} bytes ({:.0f} MiB) of a memory pool of {:.0f} MiB: {}.\n"
                  "  Use a smaller memory limit (--memory), or raise the limit that the system sets (ulimit "
                  "-v, the memory cgroup).",
                  what, bytes, static_cast<double>(bytes) / 0x1p20, static_cast<double>(capacity) / 0x1p20,
                  std::strerror(error_number)));
}

}  // namespace

Arena::Arena(Bytes capacity, HugePages huge_pages) : capacity_(capacity) {
  if (capacity == 0) return;
  if (capacity > static_cast<Bytes>(std::numeric_limits<std::ptrdiff_t>::max()) - 2 * huge_page)
    refuse("map", capacity, capacity, ENOMEM);
  // Huge pages need aligned addresses: maps one page more and unmaps both ends.
  const Bytes length = (capacity + huge_page - 1) / huge_page * huge_page;
  void* const mapped = mmap(nullptr, length + huge_page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) refuse("map", capacity, capacity, errno);
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const Bytes head = (huge_page - address % huge_page) % huge_page;
  begin_ = static_cast<std::byte*>(mapped) + head;
  if (head > 0) munmap(mapped, head);
  munmap(begin_ + length, huge_page - head);
  // A kernel without transparent huge pages rejects this; pages are then small, without other consequences.
  madvise(begin_, length, huge_pages == HugePages::if_allowed ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

Arena::~Arena() {
  if (begin_ != nullptr) munmap(begin_, (capacity_ + huge_page - 1) / huge_page * huge_page);
}

void Arena::check(Bytes from, Bytes to) const {
  if (from > to || to > capacity_)
    throw UsageError(fmt::format("bytes {} to {} are not inside an arena of {} bytes", from, to, capacity_));
}

void Arena::warm(Bytes from, Bytes to) {
  check(from, to);
  const Bytes page = static_cast<Bytes>(sysconf(_SC_PAGESIZE));
  const Bytes first = from / page * page;
  if (from == to) return;
  while (madvise(begin_ + first, to - first, populate_write) != 0) {
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno != EINVAL) refuse("make resident", to - first, capacity_, errno);
    touch(from, to);
    return;
  }
}

void Arena::touch(Bytes from, Bytes to) {
  check(from, to);
  const Bytes page = static_cast<Bytes>(sysconf(_SC_PAGESIZE));
  // An atomic "or" with 0 faults the page in for writing and cannot undo concurrent writes.
  for (Bytes offset = from / page * page; offset < to; offset += page)
    std::atomic_ref(*reinterpret_cast<unsigned char*>(begin_ + offset))
        .fetch_or(0, std::memory_order_relaxed);
}

}  // namespace fairlead::backend
