// A ring buffer of fixed size that keeps the newest records. One thread writes; reading is allowed only while no thread
// writes.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace fairlead::trace {

template <class Record>
class Ring {
  static_assert(std::is_trivially_copyable_v<Record> && std::is_trivially_destructible_v<Record>);

 public:
  /// Holds as many records as fit into `bytes`, at least one. The system allocates pages as records are written.
  explicit Ring(std::size_t bytes) : capacity_(std::max<std::size_t>(1, bytes / sizeof(Record))) {
    const std::size_t all = capacity_ * sizeof(Record);
    alignment_ = all >= huge_page ? huge_page : alignof(std::max_align_t);
    records_ = static_cast<Record*>(::operator new (all, std::align_val_t{alignment_}));
    // Optional: page faults on small pages while tasks run would cost more than all other work of recording.
    if (alignment_ == huge_page) madvise(records_, all, MADV_HUGEPAGE);
  }
  ~Ring() { ::operator delete (records_, std::align_val_t{alignment_}); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// Overwrites the oldest record if the ring is full.
  void push(const Record& record) noexcept {
    new (records_ + next_) Record(record);
    ++pushed_;
    if (++next_ == capacity_) next_ = 0;
  }
  /// The record pushed `back` records before the last one; it must still be stored.
  Record& before_last(std::size_t back) noexcept {
    return records_[next_ > back ? next_ - 1 - back : next_ + capacity_ - 1 - back];
  }
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t size() const noexcept { return std::min<std::uint64_t>(pushed_, capacity_); }
  /// The number of overwritten records.
  std::uint64_t dropped() const noexcept { return pushed_ - size(); }

  /// Calls f(record), oldest first.
  template <class F>
  void for_each(F&& f) const {
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) f(records_[(next_ + capacity_ - count + i) % capacity_]);
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  Record* records_;
  std::size_t capacity_, alignment_;
  std::size_t next_ = 0;
  std::uint64_t pushed_ = 0;
};

}  // namespace fairlead::trace
