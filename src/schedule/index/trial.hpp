// Who is to try a task of which nobody knows how long it takes there.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <optional>

#include "policy/view.hpp"

namespace fairlead::schedule {

/// The worker with the fewest tasks; none if it has enough to learn from. Cores beside accelerators that can run the task have one at
/// a time, all together: if each of a hundred slow ones has some, all others wait for those.
struct Trial {
  Trial() = default;
  /// `could_run(info)`, `tasks_of(id)`: that it has been given and not finished.
  template <class CouldRun, class TasksOf>
  Trial(const View& view, const Task& task, const CouldRun& could_run, const TasksOf& tasks_of) {
    std::size_t fewest = enough, of_cores = 0;
    for (const WorkerInfo& info : view.workers()) {
      if (info.kind == WorkerKind::cpu)
        of_cores += tasks_of(info.id);
      else if (info.kind != WorkerKind::emulated)
        by_accelerators = by_accelerators || could_run(info);
    }
    for (const WorkerInfo& info : view.workers()) {
      if (tasks_of(info.id) >= fewest || !could_run(info) || view.known(task, info.id)) continue;
      if (by_accelerators && info.kind == WorkerKind::cpu && of_cores >= enough_of_cores) continue;
      worker = info.id;
      fewest = tasks_of(info.id);
    }
  }
  /// A core of which nothing is known, when no worker is to try.
  bool waits_for_others(const View& view, const Task& task, const WorkerInfo& info) const {
    return by_accelerators && info.kind == WorkerKind::cpu && !view.known(task, info.id);
  }

  std::optional<WorkerId> worker;
  bool by_accelerators = false;

 private:
  static constexpr std::size_t enough = 4, enough_of_cores = 1;
};

}  // namespace fairlead::schedule
