// A region of RAM, mapped once and never moved: the storage of a memory node. It uses huge pages if the system allows
// it. Pages are faulted in before use, because a first touch costs 345 microseconds per MB with small pages, which no
// task should pay.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>

namespace fairlead::backend {

enum class HugePages : std::uint8_t {
  no,         // normal pages
  if_allowed  // request transparent huge pages; normal pages if the system has none
};

/// Private anonymous memory, aligned to 2 MiB and zero; no page is resident before warm() or use.
class Arena {
 public:
  /// Throws SystemError if the system cannot map that much.
  explicit Arena(Bytes capacity, HugePages huge_pages = HugePages::if_allowed);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  Bytes capacity() const noexcept { return capacity_; }
  std::byte* at(Bytes offset) const noexcept { return begin_ + offset; }

  /// Makes the pages of [from, to) resident and keeps their content. Several threads may warm ranges concurrently
  /// while others use the arena. Throws SystemError if the system lacks memory for them, UsageError if the range
  /// exceeds the arena.
  void warm(Bytes from, Bytes to);
  /// As warm(), by touching each page: the fallback of warm() on kernels before 5.14.
  void touch(Bytes from, Bytes to);

 private:
  void check(Bytes from, Bytes to) const;

  std::byte* begin_ = nullptr;
  Bytes capacity_ = 0;
};

}  // namespace fairlead::backend
