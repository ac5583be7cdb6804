// Keeps the contents of a checkpoint while a spill file goes on changing: each slot has two places in the file, one after
// the other, and what was saved last is never overwritten.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace fairlead::backend {

/// Slots are identified by their offset, that of their first place. Any thread.
class SlotPlaces {
 public:
  /// `unit`: the size of a place is a multiple of it.
  explicit SlotPlaces(Bytes unit) noexcept : unit_(unit) {}

  Bytes place_bytes(Bytes bytes) const noexcept { return (bytes + unit_ - 1) / unit_ * unit_; }

  /// The place where the slot of a datum of `bytes` is written: not the one that is saved. It becomes the slot's place now,
  /// since nothing reads a slot that is being written.
  Bytes for_writing(Bytes slot, Bytes bytes) {
    const std::lock_guard guard(mutex_);
    Slot& it = slots_[slot];
    it.current = it.saved == Place::first ? Place::second : Place::first;
    return offset_of(slot, bytes, it.current);
  }
  /// The place that was written last.
  Bytes for_reading(Bytes slot, Bytes bytes) const {
    const std::lock_guard guard(mutex_);
    const auto found = slots_.find(slot);
    return found == slots_.end() ? slot : offset_of(slot, bytes, found->second.current);
  }
  /// The current contents of these slots are saved, and nothing else.
  template <class Range>
  void save(const Range& slots) {
    const std::lock_guard guard(mutex_);
    for (auto& [slot, it] : slots_) it.saved = Place::none;
    for (const Bytes slot : slots) {
      Slot& it = slots_[slot];
      it.saved = it.current;
    }
  }
  /// The slot is free: its contents are not saved any more.
  void forget(Bytes slot) {
    const std::lock_guard guard(mutex_);
    slots_.erase(slot);
  }

 private:
  enum class Place : std::uint8_t {
    first,
    second,
    none,  // nothing of the slot is saved
  };
  struct Slot {
    Place current = Place::first, saved = Place::none;
  };
  Bytes offset_of(Bytes slot, Bytes bytes, Place place) const noexcept {
    return place == Place::second ? slot + place_bytes(bytes) : slot;
  }

  const Bytes unit_;
  mutable std::mutex mutex_;  // guards the field below
  std::unordered_map<Bytes, Slot> slots_;
};

}  // namespace fairlead::backend
