// Reserves workers for tasks that span several, and launches these tasks.
#include "engine/span_scheduler.hpp"

#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace fairlead::engine {

SpanScheduler::SpanScheduler(memory::Memory& memory, World& world, const EngineView& view,
                             FastPathControl& fast_path, Pipelines& pipelines, const PipelineDepth& depth,
                             Launcher& launcher, Completions& endings, RunRecords& journal)
    : memory_(memory),
      world_(world),
      view_(view),
      fast_path_(fast_path),
      pipelines_(pipelines),
      depth_(depth),
      launcher_(launcher),
      endings_(endings),
      journal_(journal),
      leaders_(memory.topology().nodes.size(), no_id<WorkerId>) {}

/// All CPU workers of the task's node that are not reserved.
std::vector<WorkerId> SpanScheduler::free_workers(const Task& task) const {
  std::vector<WorkerId> found;
  for (const WorkerInfo& worker : view_.workers())
    if (worker.node == task.node && worker.kind == WorkerKind::cpu && !pipelines_[worker.id].aside)
      found.push_back(worker.id);
  return found;
}

/// For a staged task: completion is signalled separately, and its worker counts as free once the body has started.
bool SpanScheduler::asynchronous(const Task& task) const noexcept {
  return task.codelet->for_kind(view_.kind_of(task.worker), task.implementation).asynchronous;
}

bool SpanScheduler::occupies_worker(const Task& task) const noexcept {
  if (task.state != TaskState::staged) return false;
  // A refused recall shows that its body has started.
  return !asynchronous(task) || !task.has(TaskFlag::recalled) || pipelines_[task.worker].recalls != 0;
}

std::size_t SpanScheduler::width_for(const Task& task) const noexcept {
  const auto all = std::ranges::count_if(view_.workers(), [&](const WorkerInfo& worker) {
    return worker.node == task.node && worker.kind == WorkerKind::cpu;
  });
  return std::min<std::size_t>(task.workers_wanted, static_cast<std::size_t>(all));
}

bool SpanScheduler::put_off(Task& task) {
  if (task.has(TaskFlag::deferred)) return true;
  const bool spans = spans_workers(task);
  task.width = 1;
  if (!spans && (!pipelines_[task.worker].aside || move_away(task))) return false;
  task.state = TaskState::admitted;
  task.set(TaskFlag::deferred);
  if (spans) waiting_.push_back(&task);
  ++(spans ? open_ : postponed_);
  return true;
}

/// Moves the task to a worker of the same node that is not reserved and has space in its pipeline.
bool SpanScheduler::move_away(Task& task) {
  WorkerId best = task.worker;
  for (const WorkerInfo& worker : view_.workers()) {
    const Pipeline& pipeline = pipelines_[worker.id];
    if (worker.node != task.node || pipeline.aside || !pipeline.present || !view_.can_run(task, worker.id))
      continue;
    if (pipeline.tasks.size() >= depth_.depth()) continue;
    if (best == task.worker || pipeline.tasks.size() < pipelines_[best].tasks.size()) best = worker.id;
  }
  if (best == task.worker) return false;
  change_worker(task, best);
  return true;
}

void SpanScheduler::change_worker(Task& task, WorkerId worker) {
  pipelines_.move(task, worker);
  memory_.note_change();  // a task behind it may now be first in its pipeline
}

void SpanScheduler::recall_left_behind() {
  for (const Span& span : running_) {
    const Pipeline& leader = pipelines_[span.workers.front()];
    if (!leader.present && leader.recalls == 0 && !span.task->has(TaskFlag::recalled))
      launcher_.recall(*span.task);
  }
}

Task* SpanScheduler::take_unrunnable() {
  const auto alone = [&](const Task* task) {
    return std::ranges::none_of(view_.workers(), [&](const WorkerInfo& worker) {
      return worker.node == task->node && worker.kind == WorkerKind::cpu && !pipelines_[worker.id].lost;
    });
  };
  Task* found = nullptr;
  const auto all_lost = [&] {  // of the reserved workers; other workers may be left
    return std::ranges::all_of(gathering_.workers, [&](WorkerId worker) { return pipelines_[worker].lost; });
  };
  if (gathering_.task != nullptr && (alone(gathering_.task) || all_lost())) {
    found = gathering_.task;
    dissolve(std::exchange(gathering_, {}));
  } else if (const auto it = std::ranges::find_if(waiting_, alone); it != waiting_.end()) {
    found = *it;
    waiting_.erase(it);
  } else {
    return nullptr;
  }
  found->clear(TaskFlag::deferred);
  --open_;
  return found;
}

bool SpanScheduler::drop_unwanted(Commands& out) {
  bool any = false;
  const auto dropped = [&](Task* task) {
    if (!endings_.is_cancelled(*task)) return false;
    endings_.drop(*task, out);
    --open_;
    return any = true;
  };
  std::erase_if(waiting_, dropped);
  if (gathering_.task != nullptr && dropped(gathering_.task)) dissolve(std::exchange(gathering_, {}));
  return any;
}

Task* SpanScheduler::next() {
  if (gathering_.task == nullptr && !begin()) return nullptr;
  if (!ready()) return nullptr;
  Task& task = *gathering_.task;
  task.clear(TaskFlag::deferred);
  task.width = static_cast<std::uint16_t>(gathering_.workers.size());
  for (const WorkerId worker : gathering_.workers) journal_.stands_aside(worker, task);
  world_.span_formed(task, gathering_.workers);
  running_.push_back(std::exchange(gathering_, {}));
  return &task;
}

/// Reserves workers for the oldest waiting task, unless it must wait: while no worker is idle, earlier tasks in its
/// pipeline run first; and workers of other spans must return. False if no task gathers.
bool SpanScheduler::begin() {
  if (waiting_.empty()) return false;
  Task& task = *waiting_.front();
  std::vector<WorkerId> workers = free_workers(task);
  const bool any_idle = std::ranges::any_of(workers, [&](WorkerId worker) {
    return pipelines_[worker].present && pipelines_[worker].tasks.empty();
  });
  const Pipeline& own = pipelines_[task.worker];
  for (std::size_t i = 0; !any_idle && own.present && &own.tasks[i] != &task; ++i)
    if (occupies_worker(own.tasks[i]) && !asynchronous(own.tasks[i])) return false;
  const std::size_t width = width_for(task);
  if (workers.size() < width) return false;
  // The last leader comes first, as it has the library's threads already; then the workers with the fewest staged
  // tasks.
  WorkerId& leader = leaders_[index(task.node)];
  const auto may_lead = [&](WorkerId worker) {
    return std::ranges::find(workers, worker) != workers.end() && pipelines_[worker].present;
  };
  if (leader == no_id<WorkerId> || !may_lead(leader)) leader = task.worker;
  std::ranges::sort(workers, {}, [&](WorkerId worker) {
    const Pipeline& pipeline = pipelines_[worker];
    return std::tuple(!pipeline.present, worker != leader, pipeline.staged, worker);
  });
  workers.resize(width);
  for (const WorkerId worker : workers) pipelines_.set_aside(worker, true);
  if (fast_path_.pinned()) fast_path_.close();  // the fast path stays closed until all spans have ended
  gathering_ = {&task, std::move(workers)};
  waiting_.pop_front();
  return true;
}

/// Whether the reserved workers have no other tasks and one is present to lead. If not, recalls tasks that have not
/// started.
bool SpanScheduler::ready() {
  auto& [task, workers] = gathering_;
  bool all = true;
  for (const WorkerId worker : workers) {
    const PickedTasks& tasks = pipelines_[worker].tasks;
    std::size_t occupying = 0;
    Task* last = nullptr;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!occupies_worker(tasks[i])) continue;
      occupying += !asynchronous(tasks[i]);
      if (!tasks[i].has(TaskFlag::recalled)) last = &tasks[i];
      all = false;
    }
    // A single staged task most likely runs.
    const bool runs = pipelines_[worker].present && occupying == 1 && last != nullptr && !asynchronous(*last);
    if (last != nullptr && pipelines_[worker].recalls == 0 && !runs) launcher_.recall(*last);
  }
  const auto leader =
      std::ranges::find_if(workers, [&](WorkerId worker) { return pipelines_[worker].present; });
  if (!all || fast_path_.pinned() || leader == workers.end()) return false;
  std::rotate(workers.begin(), leader, leader + 1);
  leaders_[index(task->node)] = workers.front();
  if (task->worker != workers.front()) change_worker(*task, workers.front());
  return true;
}

/// The span's task has finished or was dropped.
void SpanScheduler::dissolve(const Span& span) {
  for (const WorkerId worker : span.workers) pipelines_.set_aside(worker, false);
  world_.span_released(span.workers);
}

void SpanScheduler::over(const Task& task, bool ran) {
  const auto found = std::ranges::find(running_, &task, &Span::task);
  if (found == running_.end()) return;  // it ran on an accelerator
  const Span span = std::move(*found);
  running_.erase(found);
  --open_;
  dissolve(span);
  if (!ran) return;
  for (const WorkerId worker : span.workers)  // their cores have worked for the task as well
    if (worker != task.worker)
      pipelines_.account_span_help(worker, task.duration, view_.now(), launcher_.in_fast_path(worker));
}

void SpanScheduler::launch_put_off(Commands& out) {
  for (const WorkerInfo& worker : view_.workers()) {
    const Pipeline& pipeline = pipelines_[worker.id];
    for (std::size_t i = 0; i < pipeline.tasks.size() && postponed_ != 0;) {
      Task& task = pipeline.tasks[i];
      if (!task.has(TaskFlag::deferred) || spans_workers(task)) {
        ++i;
        continue;
      }
      if (!pipeline.aside) {
        ++i;
      } else if (!move_away(task)) {
        break;  // no worker has space for the tasks behind it either
      }
      task.clear(TaskFlag::deferred);
      --postponed_;
      launcher_.launch(task, out);
    }
  }
}

}  // namespace fairlead::engine
