// The ready tasks of a node that LoadingOrder does not reach: those that lack no data, and those that lack three or
// more. Both lists may hold outdated entries, which are checked when the lists are read.
#pragma once
#include <cstdint>
#include <vector>

#include "schedule/index/darts_task.hpp"

namespace fairlead::schedule {

class UnlistedReadyTasks {
 public:
  explicit UnlistedReadyTasks(Slot slot) : slot_(slot) {}

  /// Call when the number of lacking data changes, or when the task becomes ready. `ready`: the number of ready tasks.
  void list(DartsTask& held, std::size_t ready);
  /// Adjusts the number of tasks that lack three data or more.
  void far_tasks_changed(std::int64_t change) noexcept { far_tasks_ += change; }

  /// Returns and forgets the ready tasks that lack no data, in order of release.
  void take_free(std::vector<DartsTask*>& out);
  /// The most urgent ready task that lacks three data or more; null if there is none.
  DartsTask* most_urgent_incomplete();

 private:
  /// A task that lacked three data or more when it was listed.
  struct Far : DartsTaskRef {
    std::int32_t priority;
    std::uint64_t order;
    bool operator<(const Far& other) const noexcept {  // less urgent
      return priority != other.priority ? priority < other.priority : order > other.order;
    }
  };
  bool is_far(const Far& far) const {
    return !far.stale() && far.held->where == DartsTask::Where::ready && far.held->on(slot_).missing > 2;
  }
  void purge();

  Slot slot_;
  std::vector<DartsTaskRef> free_;
  std::vector<Far> new_far_;    // not yet in the heap
  std::vector<Far> far_;        // a heap, most urgent first; some entries are outdated
  std::int64_t far_tasks_ = 0;  // number of valid ones
};

}  // namespace fairlead::schedule
