// Allocates ranges [offset, offset + bytes) of a capacity: bookkeeping only, without memory of its own. It serves the
// RAM pool, device memory and the slots of a spill file. Results depend only on the sequence of calls (no addresses,
// no hashing), so that a replayed log gives the same results.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fairlead::memory {

/// A range of an arena or a file. `bytes` is rounded by the allocator.
struct ByteRange {
  Bytes offset = 0;
  Bytes bytes = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// An ordered set of integers in short runs. An insertion moves at most one run; a search reads two arrays. With a
/// few thousand keys it is about three times as fast as a balanced tree, and it allocates rarely.
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

  /// Reserves memory so that this many insertions, mixed with erasures, cannot fail. Throws std::bad_alloc without
  /// any effect.
  void prepare(std::size_t insertions);
  /// `key` must be new. Throws std::bad_alloc only without prepare().
  void insert(std::uint64_t key);
  void erase(Place place) noexcept;
  void erase(std::uint64_t key) noexcept { erase(at_or_after(key)); }  ///< `key` must be present
  /// Changes a key in place: the new key must be between its neighbours.
  void replace(Place place, std::uint64_t key) noexcept;

 private:
  std::vector<std::uint64_t> take_spare();

  std::vector<std::uint64_t> last_;                // largest key of each run
  std::vector<std::vector<std::uint64_t>> runs_;   // none is empty
  std::vector<std::vector<std::uint64_t>> spare_;  // empty runs with capacity, for splits
  // sum over runs of the keys beyond half a run; a run is split when it has half a run of them
  std::size_t excess_ = 0;
};

/// Best-fit allocator; among holes of equal size it takes the lowest. Data of equal sizes leave no hole that the next
/// datum cannot use. Not thread-safe.
class RangeAllocator {
 public:
  /// Ranges start at multiples of `unit` bytes and have multiples of it as sizes; a remainder of the capacity stays
  /// unused. Throws UsageError if `unit` is 0 or the capacity is 2^32 units or more.
  explicit RangeAllocator(Bytes capacity, Bytes unit = 4096);

  /// A range of `rounded(bytes)`, or nothing if no hole is large enough now. 0 bytes give an empty range. Throws
  /// std::bad_alloc without any effect.
  std::optional<ByteRange> allocate(Bytes bytes);
  /// Frees a range and merges it with adjacent holes. Throws UsageError if part of it is free already or was never
  /// allocated. It needs no memory, since allocate() has reserved it.
  void release(ByteRange range);
  /// Adds space at the end. Throws UsageError as the constructor does.
  void grow(Bytes added);

  Bytes capacity() const noexcept { return capacity_ * unit_; }
  Bytes unit() const noexcept { return unit_; }
  Bytes free_bytes() const noexcept { return free_ * unit_; }
  Bytes used_bytes() const noexcept { return (capacity_ - free_) * unit_; }
  Bytes largest_free() const noexcept;
  /// The bytes that `allocate(bytes)` takes. Saturates at the largest multiple of the unit.
  Bytes rounded(Bytes bytes) const noexcept;

  /// True if all these sizes fit at once into an empty allocator.
  bool would_fit_in_empty(std::span<const Bytes> sizes) const noexcept;
  /// True if `allocate` would succeed now for all these sizes, one after the other. Changes nothing.
  bool can_allocate(std::span<const Bytes> sizes) const;

 private:
  std::optional<Bytes> units_of_all(std::span<const Bytes> sizes) const noexcept;
  void prepare(std::size_t releases);
  void add_hole(Bytes first, Bytes length, SortedKeys::Place next);

  Bytes unit_;  // in bytes; the fields below count units
  Bytes capacity_ = 0, free_ = 0;
  std::size_t handed_out_ = 0;
  SortedKeys by_address_;  // holes: first unit << 32 | length
  SortedKeys by_length_;   // the same holes: length << 32 | first unit
};

}  // namespace fairlead::memory
