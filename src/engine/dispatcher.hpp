// Who gets which task: from the policy into workers' pipelines, from there into memory, and on to the workers
// when their data are there.
#pragma once
#include <string>

#include "engine/endings.hpp"
#include "engine/engine_view.hpp"
#include "engine/gathering.hpp"
#include "engine/launcher.hpp"
#include "engine/options.hpp"
#include "engine/pipeline_depth.hpp"
#include "engine/roles/roles.hpp"

namespace fairlead::engine {

/// What a Dispatcher works with.
struct DispatcherParts {
  memory::Memory& memory;
  memory::Effects& effects;
  const EngineView& view;
  Pipelines& pipelines;
  PipelineDepth& depth;
  PolicyInUse& policy;
  TaskDurations& durations;
  Journal& journal;
  Launcher& launcher;
  Gathering& gathering;
  PseudoTasks& pseudo_tasks;
  Roles& roles;
  Endings& endings;
  LaneGate& lane;
  Stop& stop;
};

/// Under the engine's lock.
class Dispatcher {
 public:
  Dispatcher(const DispatcherParts& parts, const Options& options);

  // ---- what happened

  /// All that was before it is over.
  void ready(Task& task, Commands& out);
  void over(Task& task, bool succeeded);
  /// A staged task came back: it goes to the emptiest worker of its node, which is why it was asked for,
  /// unless its own is to stand aside.
  void returned(Task& task);
  /// A staged task came back unasked, since its worker's device is lost: it is the policy's again.
  void unbegun(Task& task);
  /// For the first time.
  void worker_arrived(WorkerId worker) noexcept { awaited_ -= view_.kind_of(worker) != WorkerKind::cpu; }

  /// What it had been given and had not begun goes back to the policy; with a device, what nobody else can run fails.
  void lost(WorkerId worker, Commands& out);

  // ---- what follows

  /// Carries on with what memory says: tasks have their data, or will not get them; copies begin.
  void follow(Commands& out);
  /// Gives workers what they can take. Ends only when whoever waits for memory, run by a worker or not, was
  /// refused after the last change.
  void give_work(Commands& out);

  /// Ready tasks.
  std::size_t held_by_policy() const noexcept { return held_by_policy_; }

 private:
  void landed(Task& task, Commands& out);
  void failed(Task& task, Commands& out);
  void stage(Task& task, Commands& out);
  void unstage(Task& task);
  void give_back(Task& task);
  bool nobody_can_run(const Task& task) const noexcept;
  void drop_stranded(WorkerId worker, Commands& out);
  bool is_last_of_device(WorkerId worker) const noexcept;
  void recall_from_lost();
  void ensure_somebody_is_left() const;
  bool admit_pseudo_tasks(Commands& out);
  bool admit_pseudo_task(Task& task, Commands& out);
  NodeId place_of(const Task& task) const;
  bool advance_gathering(Commands& out);
  void hand_out(Commands& out);
  bool give_one(WorkerId worker, Commands& out);
  void take_from_policy(Task& task, WorkerId worker, Commands& out);
  bool try_admit(WorkerId worker, Commands& out);
  void share_unadmitted(Commands& out);
  void share_staged();
  bool insist(Commands& out);
  bool everything_waits_for_memory() const noexcept;
  void prefetch_upcoming(Commands& out);
  /// Tasks that wait for memory.
  std::size_t waiting() const noexcept { return pipelines_.unadmitted() + pseudo_tasks_.waiting().size(); }
  /// Who was refused memory has to be asked again.
  bool somebody_may_fit() const noexcept { return memory_.changed() && waiting() != 0; }

  memory::Memory& memory_;
  memory::Effects& effects_;
  const EngineView& view_;
  Pipelines& pipelines_;
  PipelineDepth& depth_;
  PolicyInUse& policy_;
  TaskDurations& durations_;
  Journal& journal_;
  Launcher& launcher_;
  Gathering& gathering_;
  PseudoTasks& pseudo_tasks_;
  Roles& roles_;
  Endings& endings_;
  LaneGate& lane_;
  Stop& stop_;
  const Options& options_;
  std::size_t held_by_policy_ = 0;
  std::vector<NodeId> devices_;  // as programs count them
  std::size_t awaited_ = 0;      // workers of accelerators that have not arrived so far: they are starting
};

}  // namespace fairlead::engine
