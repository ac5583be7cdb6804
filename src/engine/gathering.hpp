// Tasks that run on several workers of one memory node at once: who stands aside for whom, and what becomes
// of their own tasks. Such a task is admitted like any other; when its data are there it gathers its workers:
// these get nothing new, and what is staged for them and has not started is asked back. When none of them has
// anything left, the task is launched on one, its leader, and the others stand aside until it is over.
//
// Why nobody waits for ever: one task gathers at a time, oldest first, and it holds all its memory by then,
// so it waits for tasks that run, which need nothing more, and for answers to recalls. Tasks whose data are
// there but whose workers stand aside are put off, holding their memory: until the end of a task that runs or
// is about to.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <deque>
#include <vector>

#include "engine/endings.hpp"
#include "engine/engine_view.hpp"
#include "engine/launcher.hpp"
#include "engine/pipeline_depth.hpp"

namespace fairlead::engine {

/// A task and those who run it or stand aside for it: the leader first.
struct Span {
  Task* task = nullptr;
  std::vector<WorkerId> workers{};
};

/// Under the engine's lock.
class Gathering {
 public:
  Gathering(memory::Memory& memory, World& world, const EngineView& view, LaneGate& lane,
            Pipelines& pipelines, const PipelineDepth& depth, Launcher& launcher, Endings& endings,
            Journal& journal);

  /// Some task waits, gathers or runs on several workers, or is put off because of one.
  bool any() const noexcept { return (open_ | put_off_) != 0; }
  /// It runs on several workers where it is now. On accelerators it is a task like others.
  bool spans_workers(const Task& task) const noexcept {
    return task.workers_wanted != 0 && view_.kind_of(task.worker) == WorkerKind::cpu;
  }
  /// It is launched, and its worker cannot stand aside for another task before it is over or comes back.
  bool occupies_worker(const Task& task) const noexcept;
  /// On how many it runs.
  std::size_t width_for(const Task& task) const noexcept;

  /// The data of the task are there. True if it cannot be launched all the same; else its worker may be
  /// another one now.
  bool put_off(Task& task);
  /// Asks back what was launched on workers who wait no more. If it was begun, that is said.
  void recall_left_behind();
  /// One that waits on a node of which no core's worker is left, so that it is nobody's here any more; null: there is none.
  Task* forsaken();
  /// Those of a cancelled flow end before they begin. True if there were any.
  bool drop_unwanted(Commands& out);
  /// A task for which all its workers stand ready now: it is to be launched. Null: none so far; goes on with
  /// asking its workers' tasks back.
  Task* next();
  /// Launches tasks whose workers stand aside no more, or that others can take.
  void launch_put_off(Commands& out);
  /// The task has ended, or come back without having begun.
  void over(const Task& task, bool ran);
  /// To the end of another worker's pipeline.
  void change_worker(Task& task, WorkerId worker);

  // What it is doing, for those who ask why nothing runs.
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
  LaneGate& lane_;
  Pipelines& pipelines_;
  const PipelineDepth& depth_;
  Launcher& launcher_;
  Endings& endings_;
  Journal& journal_;
  std::deque<Task*> waiting_;      // their data are there; oldest first
  Span gathering_;                 // without a task: nobody gathers
  std::vector<Span> running_;      // launched
  std::vector<WorkerId> leaders_;  // by node: who was the last, if anybody was
  std::size_t open_ = 0;           // tasks that wait, gather or run
  std::size_t put_off_ = 0;        // ordinary tasks that wait until their worker has to do with none of these
};

}  // namespace fairlead::engine
