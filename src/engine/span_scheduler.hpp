// Tasks that run on several workers of one memory node at once. Such a task is admitted like any other. When its data
// have arrived it gathers its workers: these get no new tasks, and their staged tasks that have not started are
// recalled. When they have no tasks left, the task is launched on one of them, its leader; the others are reserved until
// it finishes.
//
// No task waits forever: one task gathers at a time, the oldest first, and it already holds all its memory.
// So it waits only for running tasks, which need nothing more, and for answers to recalls. Tasks with all
// data whose workers are reserved are postponed, and keep their memory until a running or gathering task
// finishes.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <deque>
#include <vector>

#include "engine/completions.hpp"
#include "engine/engine_view.hpp"
#include "engine/launcher.hpp"
#include "engine/pipeline_depth.hpp"

namespace fairlead::engine {

/// A task and the workers reserved for it; the leader first.
struct Span {
  Task* task = nullptr;
  std::vector<WorkerId> workers{};
};

/// Under the engine's lock.
class SpanScheduler {
 public:
  SpanScheduler(memory::Memory& memory, World& world, const EngineView& view, FastPathControl& fast_path,
                Pipelines& pipelines, const PipelineDepth& depth, Launcher& launcher, Completions& endings,
                RunRecords& journal);

  /// Whether a task waits for several workers, gathers or runs on them, or is put off because of such a task.
  bool any() const noexcept { return (open_ | postponed_) != 0; }
  /// Whether the task runs on several workers where it is now. On accelerators it runs like any other task.
  bool spans_workers(const Task& task) const noexcept {
    return task.workers_wanted != 0 && view_.kind_of(task.worker) == WorkerKind::cpu;
  }
  /// Whether the task is launched and its worker cannot be reserved before the task finishes or comes back.
  bool occupies_worker(const Task& task) const noexcept;
  /// The number of workers on which the task runs.
  std::size_t width_for(const Task& task) const noexcept;

  /// Called when the task's data have arrived. Returns true if the task cannot be launched yet. If false, the task may
  /// have moved to another worker.
  bool put_off(Task& task);
  /// Recalls launched tasks whose leader has left. If the leader has started the task, it refuses the recall.
  void recall_left_behind();
  /// A waiting or gathering task none of whose workers is left, so that it cannot run on this node; null if there is
  /// none.
  Task* take_unrunnable();
  /// Drops waiting and gathering tasks of cancelled flows. Returns true if there were any.
  bool drop_unwanted(Commands& out);
  /// A task to launch now, because all its workers stand ready; otherwise null. Continues to recall the workers' own
  /// tasks.
  Task* next();
  /// Launches postponed tasks whose workers are no longer reserved, or that another worker can take.
  void launch_put_off(Commands& out);
  /// The task has finished, or came back without having started.
  void over(const Task& task, bool ran);
  /// Moves the task to the end of another worker's pipeline.
  void change_worker(Task& task, WorkerId worker);

  // For status reports.
  const std::deque<Task*>& waiting() const noexcept { return waiting_; }
  const Span& gathering() const noexcept { return gathering_; }
  const std::vector<Span>& running() const noexcept { return running_; }

 private:
  std::vector<WorkerId> free_workers(const Task& task) const;
  bool asynchronous(const Task& task) const noexcept;
  bool move_away(Task& task);
  bool begin();
  bool ready();
  void dissolve(const Span& span);

  memory::Memory& memory_;
  World& world_;
  const EngineView& view_;
  FastPathControl& fast_path_;
  Pipelines& pipelines_;
  const PipelineDepth& depth_;
  Launcher& launcher_;
  Completions& endings_;
  RunRecords& journal_;
  std::deque<Task*> waiting_;      // tasks whose data have arrived; oldest first
  Span gathering_;                 // task is null: none gathers
  std::vector<Span> running_;      // launched tasks
  std::vector<WorkerId> leaders_;  // by node: the last leader; no_id: none so far
  std::size_t open_ = 0;           // tasks that wait for several workers, gather or run
  std::size_t postponed_ = 0;      // ordinary tasks that wait because their worker is reserved
};

}  // namespace fairlead::engine
