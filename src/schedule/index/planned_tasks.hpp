// The tasks that are planned for a node, in order, and which of their data it lacks.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/index/held_task.hpp"

namespace fairlead::schedule {

class PlannedTasks : public HeldList {
 public:
  /// Data that they use came or went, or those that lack some are others.
  void lacked_changed() noexcept { outdated_ = true; }
  /// What they lack, in their order, `most` data at most; found again only after it has changed, since
  /// several workers ask. `lacks(datum)`: what the node does.
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
    for (const HeldTask& held : *this)
      for (const Use& use : held.uses()) {
        if (lacked_.size() == asked_) return;
        if (lacks(use.datum) && std::ranges::find(lacked_, use.datum) == lacked_.end())
          lacked_.push_back(use.datum);
      }
  }

  std::vector<DatumId> lacked_;
  std::size_t asked_ = 0;  // at most so many
  bool outdated_ = true;
};

}  // namespace fairlead::schedule
