// Tasks that need several workers at once: who stands aside for whom, and what becomes of their own tasks.
// See spans.hpp.
#include "engine/engine.hpp"

#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.hpp"

namespace fairlead::engine {

bool Engine::spans_workers(const Task& task) const noexcept {
  return task.workers_wanted != 0 && workers_[index(task.worker)].kind == WorkerKind::cpu;
}

/// All cores' workers of the task's node that are in no span.
std::vector<WorkerId> Engine::free_workers(const Task& task) const {
  std::vector<WorkerId> found;
  for (const WorkerInfo& worker : workers_)
    if (worker.node == task.node && worker.kind == WorkerKind::cpu && !pipelines_[index(worker.id)].aside)
      found.push_back(worker.id);
  return found;
}

/// A staged task: it ends when somebody says so; once its body has begun, its worker is free for others.
bool Engine::asynchronous(const Task& task) const noexcept {
  return task.codelet->for_kind(workers_[index(task.worker)].kind, task.implementation).asynchronous;
}

bool Engine::occupies_worker(const Task& task) const noexcept {
  if (task.state != TaskState::staged) return false;
  // That it was begun is known if it was asked back in vain.
  return !asynchronous(task) || !task.has(TaskFlag::recalled) || pipelines_[index(task.worker)].recalls != 0;
}

std::size_t Engine::width_for(const Task& task) const noexcept {
  const auto all = std::ranges::count_if(workers_, [&](const WorkerInfo& worker) {
    return worker.node == task.node && worker.kind == WorkerKind::cpu;
  });
  return std::min<std::size_t>(task.workers_wanted, static_cast<std::size_t>(all));
}

/// The data of the task are there. True if it cannot be launched all the same; else its worker may be another
/// one now.
bool Engine::put_off(Task& task) {
  if (task.has(TaskFlag::put_off)) return true;
  const bool spans = spans_workers(task);
  task.width = 1;
  if (!spans && (!pipelines_[index(task.worker)].aside || move_away(task))) return false;
  task.state = TaskState::admitted;
  task.set(TaskFlag::put_off);
  if (spans) spans_.waiting.push_back(&task);
  ++(spans ? spans_.open : spans_.put_off);
  return true;
}

/// To a worker of the same node that stands aside for nobody, if one has room.
bool Engine::move_away(Task& task) {
  WorkerId best = task.worker;
  for (const WorkerInfo& worker : workers_) {
    const Pipeline& pipeline = pipelines_[index(worker.id)];
    if (worker.node != task.node || pipeline.aside || !pipeline.present || !can_run(task, worker.id))
      continue;
    if (pipeline.tasks.size() >= depth_) continue;
    if (best == task.worker || pipeline.tasks.size() < pipelines_[index(best)].tasks.size()) best = worker.id;
  }
  if (best == task.worker) return false;
  change_worker(task, best);
  return true;
}

void Engine::change_worker(Task& task, WorkerId worker) {
  pipelines_[index(task.worker)].tasks.remove(task);
  task.worker = worker;
  pipelines_[index(worker)].tasks.push(task);
  memory_.note_change();  // who was behind it may be first now
}

/// Starts what can start, and goes on with gathering. True if memory was given back.
bool Engine::advance_spans(Commands& out) {
  bool freed = false;
  for (const Span& span : spans_.running) {
    // Who waits no more may have left it behind. If it was begun, that is said.
    const WorkerId leader = span.workers.front();
    if (!pipelines_[index(leader)].present && pipelines_[index(leader)].recalls == 0 &&
        !span.task->has(TaskFlag::recalled))
      recall(*span.task);
  }
  for (;;) {
    freed |= cancel_waiting_spans(out);
    Span& span = spans_.gathering;
    if (span.task == nullptr && !begin_gathering()) break;
    if (!gathered()) break;
    Task& task = *span.task;
    task.clear(TaskFlag::put_off);
    task.width = static_cast<std::uint16_t>(span.workers.size());
    for (const WorkerId worker : span.workers)
      digest_.add(CommandDigest::Kind::stand_aside, static_cast<std::uint64_t>(task.id), index(worker));
    world_.gathered(task, span.workers);
    spans_.running.push_back(std::exchange(span, {}));
    launch(task, out);
  }
  if (spans_.put_off != 0) launch_put_off(out);
  return freed;
}

/// Those of a cancelled flow end before they begin.
bool Engine::cancel_waiting_spans(Commands& out) {
  bool any = false;
  const auto cancelled = [&](Task* task) {
    if (!must_cancel(*task)) return false;
    pipelines_[index(task->worker)].tasks.remove(*task);
    --in_pipelines_;
    memory_.release(*task, memory::Outcome::failed);
    policy_->cancelled(*task);
    cancel_task(*task, out);
    --spans_.open;
    return any = true;
  };
  std::erase_if(spans_.waiting, cancelled);
  if (spans_.gathering.task != nullptr && cancelled(spans_.gathering.task))
    dissolve(std::exchange(spans_.gathering, {}));
  if (any) follow_effects(out);
  return any;
}

/// The oldest task that waits takes its workers, unless its turn has not come: while nobody is idle, tasks
/// before it in its pipeline go first; and workers of other spans are waited for by all. False if none has
/// begun.
bool Engine::begin_gathering() {
  if (spans_.waiting.empty()) return false;
  Task& task = *spans_.waiting.front();
  std::vector<WorkerId> workers = free_workers(task);
  const bool somebody_is_idle = std::ranges::any_of(workers, [&](WorkerId worker) {
    return pipelines_[index(worker)].present && pipelines_[index(worker)].tasks.empty();
  });
  const Pipeline& own = pipelines_[index(task.worker)];
  for (std::size_t i = 0; !somebody_is_idle && own.present && &own.tasks[i] != &task; ++i)
    if (occupies_worker(own.tasks[i]) && !asynchronous(own.tasks[i])) return false;
  const std::size_t width = width_for(task);
  if (workers.size() < width) return false;
  // Who led before has threads of the task's library already; then those who have least to do.
  spans_.leaders.resize(memory_.topology().nodes.size(), no_id<WorkerId>);
  WorkerId& leader = spans_.leaders[index(task.node)];
  const auto may_lead = [&](WorkerId worker) {
    return std::ranges::find(workers, worker) != workers.end() && pipelines_[index(worker)].present;
  };
  if (leader == no_id<WorkerId> || !may_lead(leader)) leader = task.worker;
  std::ranges::sort(workers, {}, [&](WorkerId worker) {
    const Pipeline& pipeline = pipelines_[index(worker)];
    return std::tuple(!pipeline.present, worker != leader, pipeline.staged, worker);
  });
  workers.resize(width);
  for (const WorkerId worker : workers) pipelines_[index(worker)].aside = true;
  if (lane_pinned_) lane_.close();  // it is not opened before all spans are over
  spans_.gathering = {&task, std::move(workers)};
  spans_.waiting.pop_front();
  return true;
}

/// Whether those who gather have nothing left, and one of them is there to lead. Else asks back what they
/// have not begun.
bool Engine::gathered() {
  auto& [task, workers] = spans_.gathering;
  bool all = true;
  for (const WorkerId worker : workers) {
    const PickedTasks& tasks = pipelines_[index(worker)].tasks;
    std::size_t occupying = 0;
    Task* last = nullptr;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!occupies_worker(tasks[i])) continue;
      occupying += !asynchronous(tasks[i]);
      if (!tasks[i].has(TaskFlag::recalled)) last = &tasks[i];
      all = false;
    }
    // A single one most likely runs.
    const bool runs =
        pipelines_[index(worker)].present && occupying == 1 && last != nullptr && !asynchronous(*last);
    if (last != nullptr && pipelines_[index(worker)].recalls == 0 && !runs) recall(*last);
  }
  const auto leader =
      std::ranges::find_if(workers, [&](WorkerId worker) { return pipelines_[index(worker)].present; });
  if (!all || lane_pinned_ || leader == workers.end()) return false;
  std::rotate(workers.begin(), leader, leader + 1);
  spans_.leaders[index(task->node)] = workers.front();
  if (task->worker != workers.front()) change_worker(*task, workers.front());
  return true;
}

/// Its task is over, or will not be.
void Engine::dissolve(const Span& span) {
  for (const WorkerId worker : span.workers) pipelines_[index(worker)].aside = false;
  world_.dissolved(span.workers);
}

/// The task has ended, or come back without having begun.
void Engine::span_over(Task& task, bool ran) {
  const auto found = std::ranges::find(spans_.running, &task, &Span::task);
  if (found == spans_.running.end()) return;  // it ran on an accelerator
  const Span span = std::move(*found);
  spans_.running.erase(found);
  --spans_.open;
  dissolve(span);
  if (!ran) return;
  for (const WorkerId worker : span.workers) {  // their cores have worked for it, too
    Pipeline& pipeline = pipelines_[index(worker)];
    if (worker == task.worker || !pipeline.present) continue;
    const Duration in_lane = lane_.busy(index(worker)) - pipeline.lane_busy_before;
    const Duration idle = std::max(Duration{}, now_ - pipeline.idle_since - in_lane);
    const Duration busy = std::min(task.duration, idle);
    pipeline.busy += busy;
    pipeline.waiting_for_tasks += idle - busy;
    pipeline.idle_since = now_;
    pipeline.lane_busy_before += in_lane;
  }
}

/// Tasks whose workers stand aside no more, or that others can take.
void Engine::launch_put_off(Commands& out) {
  for (const WorkerInfo& worker : workers_) {
    const Pipeline& pipeline = pipelines_[index(worker.id)];
    for (std::size_t i = 0; i < pipeline.tasks.size() && spans_.put_off != 0;) {
      Task& task = pipeline.tasks[i];
      if (!task.has(TaskFlag::put_off) || spans_workers(task)) {
        ++i;
        continue;
      }
      if (!pipeline.aside) {
        ++i;
      } else if (!move_away(task)) {
        break;  // nobody has room for those behind it either
      }
      task.clear(TaskFlag::put_off);
      --spans_.put_off;
      launch(task, out);
    }
  }
}

}  // namespace fairlead::engine
