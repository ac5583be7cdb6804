// The ready tasks of a node of which no datum that it could load tells: those that need nothing more, and
// those that need three data or more. Both are lists of what was so when it was written down, and are looked
// through when somebody asks.
#pragma once
#include <cstdint>
#include <vector>

#include "schedule/index/held_task.hpp"

namespace fairlead::schedule {

class FreeAndFar {
 public:
  explicit FreeAndFar(Slot slot) : slot_(slot) {}

  /// The task lacks another number of data now, or has just become ready. `ready`: how many tasks are.
  void list(HeldTask& held, std::size_t ready);
  /// How many more tasks, or fewer, are far.
  void far_tasks_changed(std::int64_t change) noexcept { far_tasks_ += change; }

  /// Ready tasks that need nothing more, in order of release. Forgets them.
  void take_free(std::vector<HeldTask*>& out);
  /// The most urgent ready task that needs three data or more; null if there is none.
  HeldTask* most_urgent_far();

 private:
  /// A task that needed three data or more when it was listed.
  struct Far : HeldRef {
    std::int32_t priority;
    std::uint64_t order;
    bool operator<(const Far& other) const noexcept {  // less urgent
      return priority != other.priority ? priority < other.priority : order > other.order;
    }
  };
  bool is_far(const Far& far) const {
    return !far.stale() && far.held->where == HeldTask::Where::ready && far.held->on(slot_).missing > 2;
  }
  void purge();

  Slot slot_;
  std::vector<HeldRef> free_;
  std::vector<Far> new_far_;    // not yet in the heap
  std::vector<Far> far_;        // a heap, most urgent first; of some it is no longer true
  std::int64_t far_tasks_ = 0;  // of which it is
};

}  // namespace fairlead::schedule
