// Trials: the choice of a worker to measure a task whose duration there is unknown.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <optional>

#include "policy/view.hpp"

namespace fairlead::schedule {

/// The worker with the fewest tasks among those that should try the task; none if all have enough measurements or
/// trials. If accelerators can run the task too, the cores run one trial at a time, all together: otherwise other
/// workers would wait for trials on a hundred slow cores.
struct Trial {
  Trial() = default;
  /// `could_run(info)`: the worker is eligible. `tasks_of(id)`: its assigned and unfinished tasks.
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
      if (tasks_of(info.id) >= fewest || !could_run(info) || view.is_estimate_reliable(task, info.id))
        continue;
      if (by_accelerators && info.kind == WorkerKind::cpu && of_cores >= enough_of_cores) continue;
      worker = info.id;
      fewest = tasks_of(info.id);
    }
  }
  /// True for a core without a known duration, if no worker is chosen for a trial: the core must wait for the running
  /// trial.
  bool must_wait_for_trial(const View& view, const Task& task, const WorkerInfo& info) const {
    return by_accelerators && info.kind == WorkerKind::cpu && !view.is_estimate_reliable(task, info.id);
  }

  std::optional<WorkerId> worker;
  bool by_accelerators = false;

 private:
  static constexpr std::size_t enough = 4, enough_of_cores = 1;
};

}  // namespace fairlead::schedule
