// Local data that hold values of remote data: values received from other ranks while they are the newest ones, and
// values that tasks of this rank write for other owners. They are ordinary data with space in the spill file, and are
// reused.
#pragma once
#include <deque>
#include <unordered_map>

#include "backend/disk/spill_file.hpp"
#include "engine/runtime_core.hpp"
#include "front/ranks/shared_datum.hpp"
#include "front/runtime/datum_store.hpp"

namespace fairlead::front {

/// For the program's thread.
class RemoteBuffers {
 public:
  explicit RemoteBuffers(engine::RuntimeCore& core) : core_(core) {}

  /// Sets where descriptors and disk space are allocated. Called once before take().
  void set_storage(DatumStore& store, backend::SpillFile& spill) noexcept {
    store_ = &store;
    spill_ = &spill;
  }
  /// Returns a datum without users. Throws SystemError if the disk lacks the space.
  engine::RegisteredDatum& take(const SharedDatum& of);
  /// Tasks that were submitted so far may still use it.
  void release(engine::RegisteredDatum& guest);

 private:
  engine::RuntimeCore& core_;
  DatumStore* store_ = nullptr;
  backend::SpillFile* spill_ = nullptr;
  std::unordered_map<Bytes, std::deque<engine::RegisteredDatum*>>
      unused_;  // by size; the first was returned earliest
};

}  // namespace fairlead::front
