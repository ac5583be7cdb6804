// Tasks that no worker runs: how far each of them is. They pass policy and pipelines by: somebody waits for them, and
// nothing is to be decided. They are admitted like others, to the memory where the program is; what is done with them
// then, their role says.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "data/task.hpp"

namespace fairlead::engine {

/// Under the engine's lock.
class PseudoTasks {
 public:
  // ---- how they go on, in this order

  /// All that was before it is over: it waits for memory.
  void wait(Task& task) { waiting_.push_back(&task); }
  /// Asks of each that waits, oldest first, whether it waits no more. True if there was one.
  template <class F>
  bool wait_no_more(F&& f) {
    return std::erase_if(waiting_, [&](Task* task) { return f(*task); }) != 0;
  }
  /// It is admitted.
  void arrive(Task& task) { arriving_.push_back(&task); }
  /// Its copies have landed, or will not.
  void arrived(Task& task) noexcept { std::erase(arriving_, &task); }
  /// Its data are somebody's outside, until that one lets go.
  void grant(Task& task) {
    task.state = TaskState::staged;
    granted_.push_back(&task);
  }
  void waits_no_more(Task& task) noexcept { std::erase(waiting_, &task); }
  void let_go(Task& task) noexcept { std::erase(granted_, &task); }

  // ---- where they are

  /// For memory; oldest first.
  std::span<Task* const> waiting() const noexcept { return waiting_; }
  std::span<Task* const> arriving() const noexcept { return arriving_; }
  std::span<Task* const> granted() const noexcept { return granted_; }
  bool none() const noexcept { return waiting_.empty() && arriving_.empty() && granted_.empty(); }

 private:
  std::vector<Task*> waiting_, arriving_, granted_;
};

}  // namespace fairlead::engine
