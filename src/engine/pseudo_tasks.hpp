// The states of pseudo-tasks: tasks that no worker runs. They bypass policy and pipelines, since a thread waits for
// them and there is no choice to make. They are admitted like other tasks, to the program's memory node; their roles
// define what follows.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "data/task.hpp"

namespace fairlead::engine {

/// Under the engine's lock.
class PseudoTasks {
 public:
  // ---- transitions, in this order

  /// All predecessors are finished; the task waits for memory.
  void wait(Task& task) { waiting_.push_back(&task); }
  /// Calls f for each waiting task, oldest first, and removes those for which it returns true. Returns true if any was
  /// removed.
  template <class F>
  bool wait_no_more(F&& f) {
    return std::erase_if(waiting_, [&](Task* task) { return f(*task); }) != 0;
  }
  /// The task is admitted.
  void arrive(Task& task) { arriving_.push_back(&task); }
  /// Its copies have arrived or failed.
  void arrived(Task& task) noexcept { std::erase(arriving_, &task); }
  /// Its data are in use outside the engine, until release().
  void grant(Task& task) {
    task.state = TaskState::staged;
    granted_.push_back(&task);
  }
  void waits_no_more(Task& task) noexcept { std::erase(waiting_, &task); }
  void release(Task& task) noexcept { std::erase(granted_, &task); }

  // ---- current states

  /// Waiting for memory; oldest first.
  std::span<Task* const> waiting() const noexcept { return waiting_; }
  std::span<Task* const> arriving() const noexcept { return arriving_; }
  std::span<Task* const> granted() const noexcept { return granted_; }
  bool none() const noexcept { return waiting_.empty() && arriving_.empty() && granted_.empty(); }

 private:
  std::vector<Task*> waiting_, arriving_, granted_;
};

}  // namespace fairlead::engine
