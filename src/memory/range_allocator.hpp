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

  /// Sets space aside, so that as many insertions as this, with erasures between them, cannot fail. Throws
  /// std::bad_alloc, and has changed nothing then.
  void prepare(std::size_t insertions);
  /// `key` must be new. Throws std::bad_alloc only if that was not prepared.
  void insert(std::uint64_t key);
  void erase(Place place) noexcept;
  void erase(std::uint64_t key) noexcept { erase(at_or_after(key)); }  ///< `key` must be present
  /// Changes a key without changing the order: it must stay between its neighbours.
  void replace(Place place, std::uint64_t key) noexcept;

 private:
  std::vector<std::uint64_t> take_spare();

  std::vector<std::uint64_t> last_;                // the largest key of each run
  std::vector<std::vector<std::uint64_t>> runs_;   // none is empty
  std::vector<std::vector<std::uint64_t>> spare_;  // empty, with space: what runs are split into
  // keys of runs beyond half a run each: a run is split when it has half a run of them
  std::size_t excess_ = 0;
};

/// Best fit; among holes of one size the lowest. Data of equal sizes leave no hole that the next one cannot
/// use. Not for several threads at once.
class RangeAllocator {
 public:
  /// Everything handed out begins at and is a multiple of `unit` bytes; of the capacity, the rest that is no
  /// multiple stays unused. Throws UsageError if `unit` is 0 or the capacity is 2^32 units or more.
  explicit RangeAllocator(Bytes capacity, Bytes unit = 4096);

  /// A range of `rounded(bytes)`, or nothing if no hole is large enough now. 0 bytes give an empty range.
  /// Throws std::bad_alloc, and has changed nothing then.
  std::optional<Range> allocate(Bytes bytes);
  /// Gives back a range, joining it with the holes beside it. Throws UsageError if part of it is free already
  /// or was never handed out; nothing else, since it needs no memory: allocate() has set that aside.
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
  void prepare(std::size_t releases);
  void add_hole(Bytes first, Bytes length, SortedKeys::Place next);

  Bytes unit_;  // in bytes; all below is counted in units
  Bytes capacity_ = 0, free_ = 0;
  std::size_t handed_out_ = 0;
  SortedKeys by_address_;  // holes: first unit << 32 | length
  SortedKeys by_length_;   // the same holes: length << 32 | first unit
};

}  // namespace fairlead::memory
