// The tasks planned for a node, in order, and the data that the node lacks for them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/index/darts_task.hpp"

namespace fairlead::schedule {

class PlannedTasks : public DartsTaskList {
 public:
  /// Data that the tasks use arrived or left, or tasks that lack data were added or removed.
  void lacked_changed() noexcept { outdated_ = true; }
  /// The data that the tasks lack, in task order, at most `most`. Cached until the next change, since several workers
  /// call this. `lacks(datum)`: true if the node lacks the datum.
  template <class Lacks>
  std::span<const DatumId> lacked(std::size_t most, Lacks&& lacks) {
    if (outdated_ || asked_ < most) {
      outdated_ = false;
      asked_ = most;
      find_lacked(lacks);
    }
    return std::span(lacked_).first(std::min(lacked_.size(), most));
  }

 private:
  template <class Lacks>
  void find_lacked(Lacks&& lacks) {
    lacked_.clear();
    for (const DartsTask& held : *this)
      for (const InputUse& use : held.uses()) {
        if (lacked_.size() == asked_) return;
        if (lacks(use.datum) && std::ranges::find(lacked_, use.datum) == lacked_.end())
          lacked_.push_back(use.datum);
      }
  }

  std::vector<DatumId> lacked_;
  std::size_t asked_ = 0;  // largest `most` so far
  bool outdated_ = true;
};

}  // namespace fairlead::schedule
