// Launches staged tasks on workers, and recalls them.
#pragma once
#include "engine/engine_view.hpp"
#include "engine/fast_path_control.hpp"
#include "engine/pipelines.hpp"
#include "engine/policy_in_use.hpp"
#include "engine/run_records.hpp"
#include "engine/task_durations.hpp"
#include "engine/world.hpp"

namespace fairlead::engine {

/// Under the engine's lock.
class Launcher {
 public:
  Launcher(World& world, const EngineView& view, const FastPathControl& fast_path, Pipelines& pipelines,
           TaskDurations& durations, PolicyInUse& policy, RunRecords& journal)
      : world_(world),
        view_(view),
        fast_path_(fast_path),
        pipelines_(pipelines),
        durations_(durations),
        policy_(policy),
        journal_(journal) {}

  /// Launches the task on its worker, after the tasks that the worker already has.
  void launch(Task& task, Commands& out);
  /// Asks for the task back; it returns if its worker has not started it.
  void recall(Task& task);
  /// Notifies policies that want progress that the worker has started its next staged task.
  void notify_started(WorkerId worker);
  /// The time that the worker has spent in fast-path tasks so far.
  Duration in_fast_path(WorkerId worker) const noexcept { return fast_path_.path().busy(index(worker)); }

 private:
  World& world_;
  const EngineView& view_;
  const FastPathControl& fast_path_;
  Pipelines& pipelines_;
  TaskDurations& durations_;
  PolicyInUse& policy_;
  RunRecords& journal_;
};

}  // namespace fairlead::engine
