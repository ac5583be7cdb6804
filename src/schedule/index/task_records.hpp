// What a policy keeps of each task from ready() until it is over, in records that are used again. A task that
// waits in the policy knows its record, by Task::policy_data; one that was picked is looked for.
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
  /// Of a task that waits from now on; as whoever had the record before has left it.
  Record& make(Task& task) {
    if (free_.empty()) free_.push_back(&records_.emplace_back());
    Record& record = *free_.back();
    free_.pop_back();
    task.policy_data = &record;
    return record;
  }
  static Record& of_waiting(const Task& task) noexcept { return *static_cast<Record*>(task.policy_data); }
  /// The task is given to a worker.
  void picked(Task& task) {
    picked_.push_back({&task, static_cast<Record*>(std::exchange(task.policy_data, nullptr))});
  }
  /// Null if it was not.
  Record* find_picked(const Task& task) const noexcept {
    const auto found = std::ranges::find(picked_, &task, &Picked::task);
    return found == picked_.end() ? nullptr : found->record;
  }
  /// A task that was picked is over, or ready again: its record is nobody's.
  void forget_picked(const Task& task) {
    const auto found = std::ranges::find(picked_, &task, &Picked::task);
    free_.push_back(found->record);
    picked_.erase(found);
  }
  /// The record of a task that waits no longer and was not picked.
  void release(Record& record) { free_.push_back(&record); }

 private:
  struct Picked {
    const Task* task;
    Record* record;
  };
  std::deque<Record> records_;
  std::vector<Record*> free_;
  std::vector<Picked> picked_;  // not over, oldest first: as many as fit into the workers' pipelines
};

}  // namespace fairlead::schedule
