// Hands out ranges [offset, offset + bytes) of a capacity: bookkeeping only, it owns no memory. The pool of
// RAM, of a device and the slots of a spill file are cut by it. What it answers depends on the sequence of
// calls alone (no addresses, no hashing), so that a logged run comes out the same when it is replayed.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fairlead::memory {

/// A piece of an arena or of a file. `bytes` is as the allocator rounds it.
struct Range {
  Bytes offset = 0;
  Bytes bytes = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// A set of integers kept in order in short runs: insertion moves at most one run, and a search reads two
/// arrays. At a few thousand keys about three times as fast as a balanced tree, and it allocates rarely.
class SortedKeys {
 public:
  struct Place {
    std::size_t run, index;
  };

  Place at_or_after(std::uint64_t key) const noexcept;  ///< `end()` if there is none
  bool is_end(Place place) const noexcept { return place.run == runs_.size(); }
  bool is_begin(Place place) const noexcept { return place.run == 0 && place.index == 0; }
  Place before(Place place) const noexcept;  ///< `place` may be the end, but not the beginning
  std::uint64_t operator[](Place place) const noexcept { return runs_[place.run][place.index]; }
  bool empty() const noexcept { return runs_.empty(); }
  std::uint64_t largest() const noexcept { return last_.back(); }

  void insert(std::uint64_t key);  ///< `key` must be new
  void erase(Place place);
  void erase(std::uint64_t key) { erase(at_or_after(key)); }  ///< `key` must be present
  /// Changes a key without changing the order: it must stay between its neighbours.
  void replace(Place place, std::uint64_t key) noexcept;

 private:
  std::vector<std::uint64_t> last_;               // the largest key of each run
  std::vector<std::vector<std::uint64_t>> runs_;  // none is empty
};

/// Best fit; among holes of one size the lowest. Data of equal sizes leave no hole that the next one cannot
/// use. Not for several threads at once.
class RangeAllocator {
 public:
  /// Everything handed out begins at and is a multiple of `unit` bytes; of the capacity, the rest that is no
  /// multiple stays unused. Throws UsageError if `unit` is 0 or the capacity is 2^32 units or more.
  explicit RangeAllocator(Bytes capacity, Bytes unit = 4096);

  /// A range of `rounded(bytes)`, or nothing if no hole is large enough now. 0 bytes give an empty range.
  std::optional<Range> allocate(Bytes bytes);
  /// Gives back a range, joining it with the holes beside it. Throws UsageError if part of it is free already
  /// or was never handed out.
  void release(Range range);
  /// Adds space at the end. Throws UsageError as the constructor does.
  void grow(Bytes added);

  Bytes capacity() const noexcept { return capacity_ * unit_; }
  Bytes unit() const noexcept { return unit_; }
  Bytes free_bytes() const noexcept { return free_ * unit_; }
  Bytes used_bytes() const noexcept { return (capacity_ - free_) * unit_; }
  Bytes largest_free() const noexcept;
  /// What `allocate(bytes)` takes. Saturates at the largest multiple of the unit.
  Bytes rounded(Bytes bytes) const noexcept;

  /// Could all of these be held at once if nothing else were?
  bool would_fit_in_empty(std::span<const Bytes> sizes) const noexcept;
  /// Would `allocate` succeed now for all of these, one after the other? Changes nothing.
  bool can_allocate(std::span<const Bytes> sizes) const;

 private:
  std::optional<Bytes> units_of_all(std::span<const Bytes> sizes) const noexcept;

  Bytes unit_;  // in bytes; all below is counted in units
  Bytes capacity_ = 0, free_ = 0;
  SortedKeys by_address_;  // holes: first unit << 32 | length
  SortedKeys by_length_;   // the same holes: length << 32 | first unit
};

}  // namespace fairlead::memory
