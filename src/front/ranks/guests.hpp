// Data of this rank for values of others: where what comes from other ranks is kept as long as it is the newest value,
// and what tasks here write that others own. They live as data of the program's do, with a place in the spill file, and
// are used again.
#pragma once
#include <deque>
#include <unordered_map>

#include "backend/disk/spill_file.hpp"
#include "engine/runtime_core.hpp"
#include "front/ranks/shared_datum.hpp"
#include "front/runtime/datum_store.hpp"

namespace fairlead::front {

/// The program's thread's.
class Guests {
 public:
  explicit Guests(engine::RuntimeCore& core) : core_(core) {}

  /// Where they are described and have their places. Once before the first is taken.
  void live_in(DatumStore& store, backend::SpillFile& spill) noexcept {
    store_ = &store;
    spill_ = &spill;
  }
  /// One that nobody uses. Throws SystemError if the disk has no space for another.
  engine::RegisteredDatum& take(const SharedDatum& of);
  /// What was submitted so far may still use it.
  void give_back(engine::RegisteredDatum& guest);

 private:
  engine::RuntimeCore& core_;
  DatumStore* store_ = nullptr;
  backend::SpillFile* spill_ = nullptr;
  std::unordered_map<Bytes, std::deque<engine::RegisteredDatum*>>
      unused_;  // by size; the longest given back first
};

}  // namespace fairlead::front
