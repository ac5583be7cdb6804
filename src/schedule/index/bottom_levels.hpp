// The bottom level of a task: the least time from its start to the end of the graph, with unbounded resources
// (Gonthier, Marchal, Thibault 2023, section 6). Only the tasks submitted so far are known, so levels refer to these.
// They are recomputed when the flow waits, and whenever a quarter of the unfinished tasks is new. One pass costs a few
// ns per unfinished task and edge, and a task takes part in at most about five.
#pragma once
#include <cstdint>
#include <vector>

#include "policy/view.hpp"
#include "schedule/index/task_graph_window.hpp"

namespace fairlead::schedule {

/// For policies with Notifications::submitted and Notifications::progress, which forward the events.
class BottomLevels {
 public:
  void attach(const View& view);

  void submitted(Task& task);
  void horizon_closed();
  /// Call when the task has finished or is cancelled.
  void task_finished(const Task& task);
  void removed(DatumId datum) { graph_.removed(datum); }

  /// Time in ns from the start of the task to the end of the tasks submitted at the last computation. For newer tasks,
  /// their own duration; 0 if the task was never submitted.
  std::int64_t level(TaskId id) {
    const WindowTask* task = graph_.find(id);
    return task == nullptr ? 0 : static_cast<std::int64_t>(task->level);
  }
  /// The number of computations so far. Orders by level must be rebuilt when it changes.
  std::uint64_t version() const noexcept { return computed_; }

 private:
  static constexpr std::size_t fewest_new = 64;

  std::int64_t shortest(const Task& task) const;
  void compute();

  const View* view_ = nullptr;
  std::vector<WorkerId> one_of_each_kind_;
  TaskGraphWindow graph_;
  std::size_t unfinished_ = 0;
  std::size_t new_tasks_ = 0;  // since the last computation
  std::uint64_t computed_ = 0;
  std::vector<WindowTask*> unlocked_;
};

}  // namespace fairlead::schedule
