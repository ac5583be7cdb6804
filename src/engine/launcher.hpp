// Hands staged tasks to workers, and asks them back.
#pragma once
#include "engine/engine_view.hpp"
#include "engine/journal.hpp"
#include "engine/lane_gate.hpp"
#include "engine/pipelines.hpp"
#include "engine/policy_in_use.hpp"
#include "engine/task_durations.hpp"
#include "engine/world.hpp"

namespace fairlead::engine {

/// Under the engine's lock.
class Launcher {
 public:
  Launcher(World& world, const EngineView& view, const LaneGate& lane, Pipelines& pipelines,
           TaskDurations& durations, PolicyInUse& policy, Journal& journal)
      : world_(world),
        view_(view),
        lane_(lane),
        pipelines_(pipelines),
        durations_(durations),
        policy_(policy),
        journal_(journal) {}

  /// The task is its worker's now: it runs after those that the worker has.
  void launch(Task& task, Commands& out);
  /// If its worker has not begun it, it comes back.
  void recall(Task& task);
  /// The worker has gone on to its next staged task. For policies that want to know.
  void tell_started(WorkerId worker);
  /// What the worker has run in the direct lane so far.
  Duration in_lane(WorkerId worker) const noexcept { return lane_.lane().busy(index(worker)); }

 private:
  World& world_;
  const EngineView& view_;
  const LaneGate& lane_;
  Pipelines& pipelines_;
  TaskDurations& durations_;
  PolicyInUse& policy_;
  Journal& journal_;
};

}  // namespace fairlead::engine
