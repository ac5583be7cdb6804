// Data that stay where they are while the network reads or writes them: holds, admitted to memory like tasks, which no
// worker runs (rule 10 of docs/memory.md).
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "data/task_source.hpp"
#include "engine/runtime_core.hpp"
#include "front/ptg/values.hpp"

namespace fairlead::ptg {

class PayloadHolds final : public TaskSource {
 public:
  /// `granted(id, address)`: the datum is there; `refused(why)`: it never will be. Any thread.
  PayloadHolds(engine::RuntimeCore& core, std::function<void(std::uint64_t, void*)> granted,
               std::function<void(const std::string&)> refused);
  /// All are over.
  ~PayloadHolds() override;

  /// The datum is wanted there, to be read or written; `hold`: whatever the caller calls it.
  void ask(std::uint64_t hold, const Value& value, AccessMode mode);
  /// It need not stay any more, or was never granted. `unused`: nobody has written what was to be written.
  void let_go(std::uint64_t hold, bool unused = false);
  /// Each that was asked for is over, for the engine too.
  bool none() const;

  void release(Task& over, ReadyTasks& ready) override;
  /// Who waits for none() looks again.
  void count(std::size_t, Recycler&) override { core_.world().wake(engine::Who::application()); }
  void granted(Task& hold) override;

 private:
  struct Record : HoldRelease {
    Task task;
    Access access;
    std::uint64_t hold = 0;
    bool is_granted = false, is_let_go = false, is_over = false;
  };
  void collect();

  engine::RuntimeCore& core_;
  const std::function<void(std::uint64_t, void*)> granted_;
  const std::function<void(const std::string&)> refused_;
  mutable std::mutex mutex_;  // guards what follows
  std::deque<Record> records_;
  std::deque<Record*> unused_;
  std::unordered_map<std::uint64_t, Record*> by_hold_;
  std::deque<Record*> ending_;  // let go, and perhaps not over
  std::uint64_t next_id_;
};

}  // namespace fairlead::ptg
