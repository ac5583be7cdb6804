// One region of RAM, mapped at once and never moved: the bytes behind a memory node's RangeAllocator. Its
// pages are huge where the system allows it and are faulted in ahead of use, because a first touch costs 345
// microseconds per MB with small pages, which no task should pay.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>

namespace fairlead::backend {

enum class HugePages : std::uint8_t {
  no,         // pages of the usual size
  if_allowed  // ask for transparent huge pages; where the system has none, quietly pages of the usual size
};

/// Private anonymous memory; begins on a boundary of 2 MiB, all zero, no page of it resident before `warm` or
/// use.
class Arena {
 public:
  /// Throws SystemError if the system does not map that much.
  explicit Arena(Bytes capacity, HugePages huge_pages = HugePages::if_allowed);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  Bytes capacity() const noexcept { return capacity_; }
  std::byte* at(Bytes offset) const noexcept { return begin_ + offset; }

  /// Makes the pages of [from, to) resident, keeping what is in them. Several threads may warm parts at once
  /// and others may use the arena meanwhile. Throws SystemError if the system has no memory left for them,
  /// UsageError if the range is not inside the arena.
  void warm(Bytes from, Bytes to);
  /// The same by touching each page: what `warm` falls back to on kernels before 5.14.
  void touch(Bytes from, Bytes to);

 private:
  void check(Bytes from, Bytes to) const;

  std::byte* begin_ = nullptr;
  Bytes capacity_ = 0;
};

}  // namespace fairlead::backend
