// A policy's records of tasks, from ready() to completion; records are reused. Task::policy_data refers to the record
// of a waiting task; the record of a picked task is found by search.
#pragma once
#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "data/task.hpp"

namespace fairlead::schedule {

template <class Record>
class TaskRecords {
 public:
  /// A record for a task that starts to wait. Its content is that of its previous use.
  Record& make(Task& task) {
    if (free_.empty()) free_.push_back(&records_.emplace_back());
    Record& record = *free_.back();
    free_.pop_back();
    task.policy_data = &record;
    return record;
  }
  static Record& of_waiting(const Task& task) noexcept { return *static_cast<Record*>(task.policy_data); }
  /// Call when the task is given to a worker.
  void picked(Task& task) {
    picked_.push_back({&task, static_cast<Record*>(std::exchange(task.policy_data, nullptr))});
  }
  /// Null if the task was not picked.
  Record* find_picked(const Task& task) const noexcept {
    const auto found = std::ranges::find(picked_, &task, &Picked::task);
    return found == picked_.end() ? nullptr : found->record;
  }
  /// Releases the record of a picked task that has finished or is ready again.
  void release_picked(const Task& task) {
    const auto found = std::ranges::find(picked_, &task, &Picked::task);
    free_.push_back(found->record);
    picked_.erase(found);
  }
  /// Releases the record of a task that no longer waits and was not picked.
  void release(Record& record) { free_.push_back(&record); }

 private:
  struct Picked {
    const Task* task;
    Record* record;
  };
  std::deque<Record> records_;
  std::vector<Record*> free_;
  // Unfinished, oldest first; at most as many as fit into the workers' pipelines.
  std::vector<Picked> picked_;
};

}  // namespace fairlead::schedule
