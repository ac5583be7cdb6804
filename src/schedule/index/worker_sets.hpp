// Numbers the sets of workers that can run a task. There are few sets, however many tasks: tasks of one set share a
// queue, and no worker scans tasks that it cannot run.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule {

class WorkerSets {
 public:
  void attach(const View& view) {
    view_ = &view;
    able_.resize(view.workers().size());
  }

  std::size_t size() const noexcept { return sets_.size(); }
  bool contains(std::size_t set, WorkerId worker) const { return sets_[set][index(worker)]; }
  /// The number of the set of workers that can run the task; a new set gets the next number.
  std::size_t of(const Task& task) {
    for (std::size_t i = 0; i < able_.size(); ++i) able_[i] = view_->can_run(task, view_->workers()[i].id);
    const auto found = std::ranges::find(sets_, able_);
    const auto number = static_cast<std::size_t>(found - sets_.begin());
    if (found == sets_.end()) sets_.push_back(able_);
    return number;
  }

 private:
  const View* view_ = nullptr;
  std::vector<std::vector<bool>> sets_;  // by number, then worker
  std::vector<bool> able_;               // scratch
};

}  // namespace fairlead::schedule
