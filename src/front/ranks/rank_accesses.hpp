// Accesses of the network to data of this rank, which no worker runs. Of two kinds: holds are admitted to memory like
// tasks, so that the data stay where they are while bytes are moved; turns have their place in the program's order and
// take no memory, so that what is before them is over and what follows waits (rule 10 of docs/memory.md).
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
#include "net/commands.hpp"

namespace fairlead::front {

class RankAccesses final : public TaskSource {
 public:
  /// `granted(name, spot)`: the datum is there, whole; of a turn, it is its turn, and there is no address. `refused(why)`:
  /// it never will be. Any thread.
  RankAccesses(engine::RuntimeCore& core, TaskRole role,
               std::function<void(std::uint64_t, const net::Spot&)> granted,
               std::function<void(const std::string&)> refused);
  /// All are over.
  ~RankAccesses() override;

  struct Datum {
    DatumId id = no_id<DatumId>;
    void* address = nullptr;
    bool packed = false;
  };
  /// A hold: the datum is wanted there, to be read or written; `name`: whatever the caller calls it. In the host's memory,
  /// unless `where` names a device, or the datum: then on the device that has it, if there is one.
  void ask(std::uint64_t name, const Datum& datum, AccessMode mode, PlaceHint where = {});
  /// A turn, after all that was submitted. The program's thread's.
  void queue(std::uint64_t name, engine::RegisteredDatum& datum, AccessMode mode);
  /// It need not stay any more, or was never granted. `unused`: nobody has written what was to be written.
  void let_go(std::uint64_t name, bool unused = false);
  /// Each that was asked for is over, and nobody is about to tell anything of any: all this may go.
  bool none() const;
  /// Some that is not over is of that datum.
  bool any_of(DatumId datum) const;

  void release(Task& over, ReadyTasks& ready) override;
  void count(std::size_t accesses, Recycler&) override;
  void granted(Task& access) override;

 private:
  struct Record : HoldRelease {
    Task task;
    Access access;
    std::uint64_t name = 0;
    bool is_granted = false, is_let_go = false, is_over = false;
    bool is_told = false;  // granted() has been called and will not look at it any more

    /// Let go and over. The engine looks at it no more, and who tells of its grant, perhaps late, has done so.
    bool is_unused() const {
      return is_over && applied.load(std::memory_order_acquire) && (is_told || !HoldRelease::granted);
    }
  };
  void collect();
  Record& begin(std::uint64_t name, const Datum& datum, AccessMode mode, PlaceHint where);

  engine::RuntimeCore& core_;
  const TaskRole role_;
  const std::function<void(std::uint64_t, const net::Spot&)> granted_;
  const std::function<void(const std::string&)> refused_;
  mutable std::mutex mutex_;  // guards what follows
  std::deque<Record> records_;
  std::deque<Record*> unused_;
  std::unordered_map<std::uint64_t, Record*> by_name_;
  std::deque<Record*> ending_;  // let go, and perhaps not over
  std::size_t uncounted_ = 0;   // ends that somebody has still to count
  std::uint64_t next_id_;
};

}  // namespace fairlead::front
