// Dispatches tasks: from the policy into pipelines, from there into memory, and to the workers when their data have
// arrived.
#pragma once
#include <string>

#include "engine/completions.hpp"
#include "engine/engine_view.hpp"
#include "engine/launcher.hpp"
#include "engine/options.hpp"
#include "engine/pause.hpp"
#include "engine/pipeline_depth.hpp"
#include "engine/roles/roles.hpp"
#include "engine/span_scheduler.hpp"

namespace fairlead::engine {

/// The parts of the engine that a Dispatcher uses.
struct DispatcherParts {
  memory::Memory& memory;
  memory::Effects& effects;
  const EngineView& view;
  Pipelines& pipelines;
  PipelineDepth& depth;
  PolicyInUse& policy;
  TaskDurations& durations;
  RunRecords& journal;
  Launcher& launcher;
  SpanScheduler& gathering;
  Pause& pause;
  PseudoTasks& pseudo_tasks;
  Roles& roles;
  Completions& endings;
  FastPathControl& fast_path;
  StopReason& stop;
};

/// Under the engine's lock.
class Dispatcher {
 public:
  Dispatcher(const DispatcherParts& parts, const Options& options);

  // ---- events

  /// All predecessors of the task are finished.
  void ready(Task& task, Commands& out);
  void finished(Task& task, bool succeeded);
  /// A recalled task came back. It moves to the worker of its node with the shortest pipeline, unless its own worker is
  /// reserved for a task of several workers.
  void returned(Task& task);
  /// A staged task came back without a recall, since its worker's device is lost. It returns to the policy.
  void reclaimed(Task& task);
  /// Called once per worker, at its first arrival.
  void worker_arrived(WorkerId worker) noexcept { awaited_ -= view_.kind_of(worker) != WorkerKind::cpu; }

  /// The worker is lost. Its tasks that have not started return to the policy; after the loss of a device, tasks that
  /// no other worker can run fail.
  void worker_lost(WorkerId worker, Commands& out);

  // ---- consequences

  /// Processes the effects of memory changes: tasks with all data, failed tasks, and copies to start.
  void follow(Commands& out);
  /// Gives tasks to workers, until every waiting task or hold was refused after the last change (rule 12 of
  /// docs/memory.md).
  void give_work(Commands& out);

  /// Ready tasks in the policy.
  std::size_t held_by_policy() const noexcept { return held_by_policy_; }

 private:
  void data_arrived(Task& task, Commands& out);
  void failed(Task& task, Commands& out);
  void stage(Task& task, Commands& out);
  void unstage(Task& task);
  void give_back(Task& task);
  bool is_unrunnable(const Task& task) const noexcept;
  void drop_stranded(WorkerId worker, Commands& out);
  bool is_last_of_device(WorkerId worker) const noexcept;
  void recall_from_lost();
  void ensure_worker_is_left() const;
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
  bool force_progress(Commands& out);
  bool blocked_on_memory() const noexcept;
  void prefetch_upcoming(Commands& out);
  /// Tasks and holds that wait for memory.
  std::size_t waiting() const noexcept { return pipelines_.unadmitted() + pseudo_tasks_.waiting().size(); }
  /// Whether refused tasks must be tried again.
  bool any_admissible() const noexcept { return memory_.changed() && waiting() != 0; }

  memory::Memory& memory_;
  memory::Effects& effects_;
  const EngineView& view_;
  Pipelines& pipelines_;
  PipelineDepth& depth_;
  PolicyInUse& policy_;
  TaskDurations& durations_;
  RunRecords& journal_;
  Launcher& launcher_;
  SpanScheduler& gathering_;
  Pause& pause_;
  PseudoTasks& pseudo_tasks_;
  Roles& roles_;
  Completions& endings_;
  FastPathControl& fast_path_;
  StopReason& stop_;
  const Options& options_;
  std::size_t held_by_policy_ = 0;
  std::vector<NodeId> devices_;  // accelerators, in the order in which programs number them
  std::size_t awaited_ = 0;      // workers of accelerators that have not arrived yet: they are starting
};

}  // namespace fairlead::engine
