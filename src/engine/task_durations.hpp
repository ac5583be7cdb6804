// Durations of tasks, given in advance or learned at run time; also selects the implementation that runs next.
#pragma once
#include <functional>
#include <vector>

#include "data/task.hpp"
#include "machine/topology.hpp"
#include "memory/memory.hpp"
#include "model/chooser.hpp"
#include "model/duration_model.hpp"

namespace fairlead::engine {

/// Under the engine's lock.
class TaskDurations {
 public:
  using Given = std::function<Duration(const Task&, WorkerId)>;

  /// `given`, `first_bodies`: see Options. `kept`: results of earlier runs.
  TaskDurations(const Topology& topology, const memory::Memory& memory, Given given,
                const model::KeptDurations& kept, bool first_bodies = false);

  /// For a core that has run no similar task, the estimate is much longer than for accelerators, so that accelerators
  /// are tried first.
  Duration estimate(const Task& task, WorkerId worker) const;
  /// Whether a policy may rely on the estimate. One task suffices for a core that took many times as long as known
  /// durations on other processors.
  bool known(const Task& task, WorkerId worker) const;
  /// The task is launched. If its codelet has several implementations for the worker, selects one and returns its
  /// number; otherwise, or if the first must run, returns 0. over() or returned() must follow.
  unsigned choose(Task& task);
  void over(const Task& task, bool succeeded);
  void returned(Task& task);
  /// Records the duration of a fast-path task.
  void note(const Task& task, WorkerId worker, Duration duration);
  const model::DurationModel& model() const noexcept { return model_; }

 private:
  bool has_several(const Task& task, WorkerId worker) const noexcept;
  bool has_choice(const Task& task, WorkerId worker) const noexcept {
    return !first_bodies_ && has_several(task, worker);
  }
  model::Estimate there(const Task& task, WorkerId worker) const;
  bool is_core(WorkerId worker) const noexcept;
  /// Calls `act` with the estimate for one worker of each kind of accelerator that can run the task.
  template <class Act>
  void for_each_accelerator(const Task& task, const Act& act) const;
  model::Footprint footprint(const Task& task) const;

  const memory::Memory& memory_;  // for the sizes of data
  const Given given_;
  const bool first_bodies_;
  std::vector<model::Processor> processors_;  // by WorkerId
  std::vector<WorkerId> accelerators_;        // one worker of each CUDA or OpenCL processor
  model::DurationModel model_;
  model::ImplementationChooser chooser_{model_};
};

}  // namespace fairlead::engine
