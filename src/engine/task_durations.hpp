// How long tasks take, as it was known beforehand or is learned while they run; and which of several
// implementations runs next.
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

  /// `given`, `first_bodies`: see Options. `kept`: what earlier runs found.
  TaskDurations(const Topology& topology, const memory::Memory& memory, Given given,
                const model::KeptDurations& kept, bool first_bodies = false);

  /// Of a core on which nothing like it has run, much more than of accelerators: those are asked first.
  Duration estimate(const Task& task, WorkerId worker) const;
  /// Whether a policy may rely on it. Of a core that took many times as long as other processors are known to, one task is enough.
  bool known(const Task& task, WorkerId worker) const;
  /// The task is launched. If its codelet has several implementations there, chooses one, and returns it; 0
  /// if not, or if the first is to run. over() or returned() has to follow.
  unsigned choose(Task& task);
  void over(const Task& task, bool succeeded);
  void returned(Task& task);
  /// A task of which the engine heard nothing else.
  void note(const Task& task, WorkerId worker, Duration duration);
  const model::DurationModel& model() const noexcept { return model_; }

 private:
  bool has_several(const Task& task, WorkerId worker) const noexcept;
  bool has_choice(const Task& task, WorkerId worker) const noexcept {
    return !first_bodies_ && has_several(task, worker);
  }
  model::Estimate there(const Task& task, WorkerId worker) const;
  bool is_core(WorkerId worker) const noexcept;
  /// With what is known of the task on one of each kind that has a body for it.
  template <class Act>
  void for_each_accelerator(const Task& task, const Act& act) const;
  model::Footprint footprint(const Task& task) const;

  const memory::Memory& memory_;  // how many bytes data have
  const Given given_;
  const bool first_bodies_;
  std::vector<model::Processor> processors_;  // by WorkerId
  std::vector<WorkerId> accelerators_;        // one of each processor of CUDA and OpenCL
  model::DurationModel model_;
  model::Chooser chooser_{model_};
};

}  // namespace fairlead::engine
