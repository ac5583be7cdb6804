// Accesses of the network to data of this rank; no worker runs them. There are two kinds. Holds are admitted to memory
// like tasks and pin the data while bytes are transferred. Turns take their place in program order without memory:
// earlier tasks are finished when a turn is granted, and later ones wait (rule 10 of docs/memory.md).
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <fairlead/place_hint.hpp>

#include "data/task_source.hpp"
#include "engine/runtime_core.hpp"
#include "net/endpoint_commands.hpp"

namespace fairlead::front {

class NetworkAccesses final : public TaskSource {
 public:
  /// `granted(name, spot)`: the datum is available; for a turn `spot` is empty. `refused(why)`: the datum will never be
  /// available. Any thread may call both.
  NetworkAccesses(engine::RuntimeCore& core, TaskRole role,
                  std::function<void(std::uint64_t, const net::ValueMemory&)> granted,
                  std::function<void(const std::string&)> refused);
  /// All accesses must have finished.
  ~NetworkAccesses() override;

  struct Datum {
    DatumId id = no_id<DatumId>;
    void* address = nullptr;
    bool packed = false;
  };
  /// Requests a hold for reading or writing; `name` identifies it to the caller. The datum is placed in the host's
  /// memory, unless `where` names a device, or a datum: then on the device that has that datum, if any.
  void request_hold(std::uint64_t name, const Datum& datum, AccessMode mode, PlaceHint where = {});
  /// Requests a turn after all submitted tasks. For the program's thread.
  void request_turn(std::uint64_t name, engine::RegisteredDatum& datum, AccessMode mode);
  /// Releases an access, granted or not. `unused`: the access has written nothing.
  void release(std::uint64_t name, bool unused = false);
  /// Whether all accesses have finished and no callback can follow: this object may be destroyed.
  bool none() const;
  /// Whether an unfinished access uses this datum.
  bool any_of(DatumId datum) const;

  void release(Task& over, ReadyTasks& ready) override;
  void count(std::size_t accesses, Recycler&) override;
  void granted(Task& access) override;

 private:
  struct Record : HoldRelease {
    Task task;
    Access access;
    std::uint64_t name = 0;
    bool is_granted = false, is_released = false, is_finished = false;
    bool callback_done =
        false;  // granted() has returned from its callback and does not use the record any more

    /// Released and finished: neither the engine nor a late granted() uses the record any more.
    bool is_unused() const {
      return is_finished && applied.load(std::memory_order_acquire) &&
             (callback_done || !HoldRelease::granted);
    }
  };
  void collect();
  Record& begin(std::uint64_t name, const Datum& datum, AccessMode mode, PlaceHint where);

  engine::RuntimeCore& core_;
  const TaskRole role_;
  const std::function<void(std::uint64_t, const net::ValueMemory&)> granted_;
  const std::function<void(const std::string&)> refused_;
  mutable std::mutex mutex_;  // guards the fields below
  std::deque<Record> records_;
  std::deque<Record*> unused_;
  std::unordered_map<std::uint64_t, Record*> by_name_;
  std::deque<Record*> ending_;  // released, maybe not finished
  std::size_t uncounted_ = 0;   // accesses whose completion is not counted yet
  std::uint64_t next_id_;
};

}  // namespace fairlead::front
