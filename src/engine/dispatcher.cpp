// Reacts to events, admits tasks, and shares work between workers of a node.
#include "engine/dispatcher.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace fairlead::engine {

namespace {
constexpr std::size_t unadmitted_allowed = 4;
constexpr std::size_t prefetched_together = 4;
}  // namespace

Dispatcher::Dispatcher(const DispatcherParts& parts, const Options& options)
    : memory_(parts.memory),
      effects_(parts.effects),
      view_(parts.view),
      pipelines_(parts.pipelines),
      depth_(parts.depth),
      policy_(parts.policy),
      durations_(parts.durations),
      journal_(parts.journal),
      launcher_(parts.launcher),
      gathering_(parts.gathering),
      pause_(parts.pause),
      pseudo_tasks_(parts.pseudo_tasks),
      roles_(parts.roles),
      endings_(parts.endings),
      fast_path_(parts.fast_path),
      stop_(parts.stop),
      options_(options) {
  for (const WorkerInfo& worker : view_.workers()) awaited_ += worker.kind != WorkerKind::cpu;
  devices_ = memory_.topology().devices();
}

// ---- events

void Dispatcher::ready(Task& task, Commands& out) {
  ensure(task.state == TaskState::waiting, "a task becomes ready once");
  if (task.role != TaskRole::program) [[unlikely]] {
    if (roles_.of(task).try_skip(task, out)) return;
    if (!task.by_worker()) {
      // Pseudo-tasks that wait already were tried after the last change.
      task.state = TaskState::ready;
      if (!admit_pseudo_task(task, out)) pseudo_tasks_.wait(task);
      return;
    }
  }
  if (endings_.must_not_run(task)) return endings_.drop(task, out);
  if (is_unrunnable(task)) [[unlikely]] {
    task.failure = memory_.losses().no_worker_error();
    return endings_.drop(task, out);
  }
  for (const Access& access : task.accesses()) memory_.look_ahead(access.datum);
  task.state = TaskState::ready;
  ++held_by_policy_;
  policy_->ready(task, task.worker);
}

void Dispatcher::finished(Task& task, bool succeeded) {
  ensure(task.state == TaskState::staged, "a task that finishes was staged");
  const WorkerId worker = task.worker;
  if (pipelines_.over(task, view_.now(), launcher_.in_fast_path(worker))) depth_.starved();
  if (policy_.wants_progress() && !task.has(TaskFlag::start_notified)) policy_->started(task, worker);
  memory_.release(task, succeeded ? memory::TaskOutcome::succeeded : memory::TaskOutcome::failed, effects_);
  succeeded ? memory_.flushes().early().changed(task, effects_) : memory_.flushes().early().forget(task);
  if (!succeeded) fast_path_.close();
  endings_.count_run(task);
  durations_.over(task, succeeded);
  if (task.workers_wanted != 0) [[unlikely]]
    gathering_.over(task, true);
  task.state = TaskState::finished;
  if (policy_.wants_progress()) {
    policy_->finished(task, worker, task.duration);
    launcher_.notify_started(worker);
  }
  depth_.task_over(task.duration);
}

void Dispatcher::returned(Task& task) {
  pipelines_.answered(task.worker);
  unstage(task);
  const Pipeline& from = pipelines_[task.worker];
  WorkerId best = task.worker;
  for (const WorkerInfo& worker : view_.workers()) {
    if (from.aside) break;  // all tasks of this worker come back; stage() finds other workers
    const Pipeline& pipeline = pipelines_[worker.id];
    if (!pipeline.present || pipeline.aside || worker.node != task.node || !view_.can_run(task, worker.id))
      continue;
    if (!pipelines_[best].present || pipeline.tasks.size() < pipelines_[best].tasks.size()) best = worker.id;
  }
  if (options_.mistake.is(Mistake::returned_task_lost)) return pipelines_.take_out(task);
  if (best == task.worker && from.lost) return give_back(task);  // no other worker can take it
  if (best != task.worker || !from.aside) gathering_.change_worker(task, best);
  // Launched after the events of this batch, or its completion could arrive among them.
  effects_.ready.push_back(&task);
}

void Dispatcher::reclaimed(Task& task) {
  unstage(task);
  give_back(task);
}

/// The worker has not started the task and will not.
void Dispatcher::unstage(Task& task) {
  pipelines_.unstage(task);
  task.clear(TaskFlag::recalled);
  durations_.returned(task);
  if (task.workers_wanted != 0) gathering_.over(task, false);
}

void Dispatcher::worker_lost(WorkerId worker, Commands& out) {
  if (pipelines_[worker].lost) return;
  if (pipelines_.lost(worker)) worker_arrived(worker);
  fast_path_.close();
  if (memory_.losses().any() && is_last_of_device(worker)) drop_stranded(worker, out);
  policy_->worker_lost(worker);
  if (options_.mistake.is(Mistake::lost_worker_served)) return;
  const PickedTasks& tasks = pipelines_[worker].tasks;
  for (std::size_t i = 0; i < tasks.size();) {
    Task& task = tasks[i];
    // Put-off tasks go with their span or to another worker; failed tasks end by themselves; staged tasks belong to the
    // world and are recalled.
    if (task.state == TaskState::staged || task.has(TaskFlag::deferred) || task.failure != nullptr)
      ++i;
    else
      give_back(task);
  }
}

/// Returns a task that has not started to the policy, and releases its memory.
void Dispatcher::give_back(Task& task) {
  if (is_unrunnable(task)) {
    task.failure = memory_.losses().no_worker_error();
    return effects_.failed.push_back(&task);
  }
  if (task.state == TaskState::picked)
    memory_.forget_claim(task);
  else
    memory_.release(task, memory::TaskOutcome::returned, effects_);
  pipelines_.take_out(task);
  memory_.note_change();  // a task behind it may now be first in its pipeline
  task.clear(TaskFlag::start_notified);
  task.worker = no_id<WorkerId>;
  task.state = TaskState::ready;
  ++held_by_policy_;
  policy_->returned(task);
}

/// Whether a device was lost and no present or future worker can run the task.
bool Dispatcher::is_unrunnable(const Task& task) const noexcept {
  return memory_.losses().any() && std::ranges::none_of(view_.workers(), [&](const WorkerInfo& worker) {
           return !pipelines_[worker.id].lost && view_.can_run(task, worker.id);
         });
}

/// Drops the policy's tasks that only the lost worker could run.
void Dispatcher::drop_stranded(WorkerId worker, Commands& out) {
  std::vector<Task*> others;
  while (held_by_policy_ != 0) {
    Task* task = policy_->pick(worker, true);
    if (task == nullptr) task = policy_->take_any(worker);
    if (task == nullptr) break;
    --held_by_policy_;
    if (is_unrunnable(*task)) {
      task->failure = memory_.losses().no_worker_error();
      endings_.drop(*task, out);
    } else {
      others.push_back(task);
    }
  }
  for (Task* const task : others) {
    ++held_by_policy_;
    policy_->returned(*task);
  }
}

/// Whether no other worker of this kind is left on the node.
bool Dispatcher::is_last_of_device(WorkerId worker) const noexcept {
  const WorkerInfo& lost = view_.workers()[index(worker)];
  return std::ranges::none_of(view_.workers(), [&](const WorkerInfo& other) {
    return other.node == lost.node && other.kind == lost.kind && !pipelines_[other.id].lost;
  });
}

/// Recalls one task at a time from each lost worker.
void Dispatcher::recall_from_lost() {
  for (const WorkerInfo& worker : view_.workers()) {
    const Pipeline& pipeline = pipelines_[worker.id];
    if (!pipeline.lost || pipeline.staged == 0 || pipeline.recalls != 0) continue;
    if (options_.mistake.is(Mistake::lost_worker_served)) return;
    for (std::size_t i = 0; i < pipeline.tasks.size(); ++i) {
      Task& task = pipeline.tasks[i];
      if (task.state != TaskState::staged || task.has(TaskFlag::recalled)) continue;
      launcher_.recall(task);
      break;
    }
  }
}

/// Throws if no worker is left that can run the ready tasks.
void Dispatcher::ensure_worker_is_left() const {
  std::string lost;
  for (const WorkerInfo& worker : view_.workers()) {
    const Pipeline& pipeline = pipelines_[worker.id];
    if (!pipeline.lost && !pipeline.present) return;  // it may arrive
    if (pipeline.lost) lost += (lost.empty() ? "" : ", ") + std::to_string(index(worker.id));
  }
  throw Error(std::to_string(held_by_policy_) +
              " tasks are ready, and no worker that could run them is left: lost are " + lost);
}

// ---- consequences

void Dispatcher::follow(Commands& out) {
  for (std::size_t i = 0; i < effects_.ready.size(); ++i) {
    Task& task = *effects_.ready[i];
    if (task.state != TaskState::admitted || task.pending_copies != 0) continue;
    if (task.failure != nullptr) continue;  // another copy for it failed in the same batch of events
    data_arrived(task, out);
  }
  effects_.ready.clear();
  for (std::size_t i = 0; i < effects_.failed.size(); ++i) failed(*effects_.failed[i], out);
  effects_.failed.clear();
  for (memory::Copy* copy : effects_.started) {
    copy->at = copy->started = view_.now();
    journal_.copy_started(*copy);
    out.copies.push_back(copy);
  }
  effects_.started.clear();
  if (effects_.stop_error == 0) return;
  if (stop_.note_lost_write(effects_.stop_error, effects_.stop_datum, std::move(effects_.stop_failure)))
    journal_.stopped(stop_.datum(), stop_.error());
  effects_.stop_error = 0;
  effects_.stop_failure = nullptr;
  out.stopped = true;
}

/// All data of the task have arrived.
void Dispatcher::data_arrived(Task& task, Commands& out) {
  if (task.by_worker()) [[likely]]
    return stage(task, out);
  pseudo_tasks_.arrived(task);
  roles_.of(task).data_arrived(task, out);
}

/// Some data of the task will not arrive.
void Dispatcher::failed(Task& task, Commands& out) {
  if (task.by_worker()) return endings_.drop_failed(task, out);
  pseudo_tasks_.arrived(task);
  roles_.of(task).failed(task, out);
}

void Dispatcher::stage(Task& task, Commands& out) {
  if (pipelines_[task.worker].lost && !options_.mistake.is(Mistake::lost_worker_served)) [[unlikely]]
    return give_back(task);
  if (task.workers_wanted != 0 || pipelines_[task.worker].aside) [[unlikely]]
    if (gathering_.put_off(task)) return;
  launcher_.launch(task, out);
}

/// Launches tasks that have their workers, and continues to gather. Returns true if memory was released.
bool Dispatcher::advance_gathering(Commands& out) {
  bool freed = false;
  gathering_.recall_left_behind();
  while (pipelines_.any_lost()) {
    Task* const task = gathering_.take_unrunnable();
    if (task == nullptr) break;
    give_back(*task);
    if (!effects_.failed.empty()) follow(out);
  }
  for (;;) {
    if (gathering_.drop_unwanted(out)) {
      freed = true;
      follow(out);
    }
    Task* const task = gathering_.next();
    if (task == nullptr) break;
    launcher_.launch(*task, out);
  }
  gathering_.launch_put_off(out);
  return freed;
}

void Dispatcher::give_work(Commands& out) {
  if (pause_.is_requested()) [[unlikely]]
    return pause_.advance();
  if (gathering_.any()) [[unlikely]]
    advance_gathering(out);
  do {
    hand_out(out);
    if (pipelines_.unadmitted() != 0) share_unadmitted(out);
    share_staged();
  } while (force_progress(out) || (gathering_.any() && advance_gathering(out)) || any_admissible());
  if (pipelines_.any_lost()) [[unlikely]]
    recall_from_lost();  // after the put-off tasks have been launched on their workers
  prefetch_upcoming(out);
}

/// Admits the pseudo-tasks that fit now. Returns true if any of them waits no longer.
bool Dispatcher::admit_pseudo_tasks(Commands& out) {
  return pseudo_tasks_.wait_no_more([&](Task& task) {
    if (!roles_.of(task).try_skip(task, out)) return admit_pseudo_task(task, out);
    memory_.forget_claim(task);
    return true;
  });
}

/// The memory node of a pseudo-task: the program's, unless its hint names a device or a datum on one.
NodeId Dispatcher::place_of(const Task& task) const {
  if (task.place == PlaceHint{} || task.uses_home()) return view_.host();
  const auto usable = [&](NodeId node) { return !memory_.state().is_lost(node); };
  if (task.node != no_id<NodeId> && usable(task.node)) return task.node;  // it may have a claim there
  if (task.place.like >= 0) {
    const DatumId datum = task.accesses()[static_cast<std::size_t>(task.place.like)].datum;
    const auto has = std::ranges::find_if(
        devices_, [&](NodeId node) { return usable(node) && view_.has_newest(datum, node); });
    return has == devices_.end() ? view_.host() : *has;
  }
  const auto number = static_cast<std::size_t>(task.place.device);
  return number < devices_.size() && usable(devices_[number]) ? devices_[number] : view_.host();
}

bool Dispatcher::admit_pseudo_task(Task& task, Commands& out) {
  task.node = place_of(task);
  if (memory_.admit(task, task.node, true, effects_) != memory::Admission::admitted) return false;
  pseudo_tasks_.arrive(task);
  if (task.pending_copies == 0) data_arrived(task, out);
  return true;
}

void Dispatcher::hand_out(Commands& out) {
  for (bool again = held_by_policy_ + waiting() > 0; again;) {
    const bool changed = memory_.take_change() || stop_.error() != 0;
    again = changed && !pseudo_tasks_.waiting().empty() && admit_pseudo_tasks(out);
    for (const WorkerInfo& worker : view_.workers()) {
      if (changed && pipelines_[worker.id].unadmitted > 0) again |= try_admit(worker.id, out);
      again |= give_one(worker.id, out);
    }
    // Also if no task was admitted: replicas that make space may have to be written back.
    if (!effects_.started.empty() || !effects_.failed.empty()) follow(out);
    again |= any_admissible();
  }
}

/// Picks at most one task for the worker. Returns true if it did.
bool Dispatcher::give_one(WorkerId worker, Commands& out) {
  const Pipeline& pipeline = pipelines_[worker];
  if (!pipeline.present || pipeline.aside || pipeline.tasks.size() >= depth_.depth() || held_by_policy_ == 0)
    return false;
  if (pipeline.unadmitted > 0) {
    // More tasks help only if those that wait do so for a token, not for memory.
    if (pipeline.unadmitted >= unadmitted_allowed) return false;
    for (std::size_t i = 0; i < pipeline.tasks.size(); ++i) {
      const Task& task = pipeline.tasks[i];
      if (task.state != TaskState::picked) continue;
      if (!memory_.waits_for_token(task)) return false;
    }
  }
  Task* task = policy_->pick(worker, false);
  if (task != nullptr) take_from_policy(*task, worker, out);
  return task != nullptr;
}

/// Handles a task that the policy picked for the worker.
void Dispatcher::take_from_policy(Task& task, WorkerId worker, Commands& out) {
  --held_by_policy_;
  if (endings_.is_cancelled(task)) return endings_.drop(task, out);
  pipelines_.pick(task, worker);
  try_admit(worker, out);
}

/// Admits the waiting tasks of the pipeline, in order.
bool Dispatcher::try_admit(WorkerId worker, Commands& out) {
  const Pipeline& pipeline = pipelines_[worker];
  bool progress = false;
  for (std::size_t i = pipeline.first_unadmitted(); i < pipeline.tasks.size() && pipeline.unadmitted > 0;) {
    Task& task = pipeline.tasks[i];
    if (task.state != TaskState::picked) {
      ++i;
      continue;
    }
    // Another commutative task of its group may have failed since.
    if (endings_.must_not_run(task)) {
      endings_.drop(task, out);
      progress = true;
      continue;
    }
    const bool first = pipeline.tasks.size() == pipeline.unadmitted;
    if (memory_.admit(task, view_.node_of(worker), first, effects_) == memory::Admission::admitted) {
      pipelines_.admitted(task);
      progress = true;
      if (task.pending_copies == 0) stage(task, out);
    }
    ++i;  // a later task may be the node's claimant, or need no space
  }
  return progress;
}

/// Prefetches data of tasks that follow those in full pipelines, into space for which no task waits (rule 6 of
/// docs/memory.md).
void Dispatcher::prefetch_upcoming(Commands& out) {
  if (held_by_policy_ == 0 || stop_.error() != 0 || waiting() != 0) return;
  const std::size_t enough = policy_->keeps_pipelines_short() ? 1 : depth_.depth();
  std::array<DatumId, prefetched_together> wanted;
  for (const WorkerInfo& worker : view_.workers()) {
    const Pipeline& pipeline = pipelines_[worker.id];
    if (!pipeline.present || pipeline.tasks.size() < enough || !memory_.prefetches().possible(worker.node))
      continue;
    const std::size_t count = policy_->upcoming(worker.id, wanted);
    for (const DatumId id : std::span(wanted).first(count))
      memory_.prefetches().fetch(id, worker.node, effects_);
  }
  if (!effects_.started.empty()) follow(out);
}

/// Moves a waiting task from a busy worker to an idle one of the same node. Behind another task it may use only half of
/// the node, here all.
void Dispatcher::share_unadmitted(Commands& out) {
  for (const WorkerInfo& idle : view_.workers()) {
    const Pipeline& empty = pipelines_[idle.id];
    for (const WorkerInfo& busy : view_.workers()) {
      const Pipeline& pipeline = pipelines_[busy.id];
      if (!empty.present || empty.aside || empty.tasks.size() != 0) break;
      if (busy.node != idle.node || pipeline.unadmitted == 0) continue;
      if (pipeline.unadmitted == pipeline.tasks.size() && !pipeline.aside) continue;
      for (std::size_t i = 0; i < pipeline.tasks.size(); ++i) {
        Task& task = pipeline.tasks[i];
        if (task.state != TaskState::picked || !view_.can_run(task, idle.id)) continue;
        pipelines_.move(task, idle.id);
        try_admit(idle.id, out);
        break;
      }
    }
  }
  if (!effects_.started.empty() || !effects_.failed.empty()) follow(out);
}

/// Recalls the last staged task of a worker with several, for an idle worker of the same node.
void Dispatcher::share_staged() {
  if (pipelines_.tasks() < 2 && !pipelines_.left_behind()) return;
  for (const WorkerInfo& idle : view_.workers()) {
    const Pipeline& empty = pipelines_[idle.id];
    if (!empty.present || empty.aside || empty.tasks.size() != 0) continue;
    for (const WorkerInfo& busy : view_.workers()) {
      const Pipeline& pipeline = pipelines_[busy.id];
      if (busy.node != idle.node || pipeline.recalls != 0 || pipeline.staged <= (pipeline.present ? 1 : 0))
        continue;
      for (std::size_t i = pipeline.tasks.size(); i-- > 0;) {
        Task& task = pipeline.tasks[i];
        if (task.state != TaskState::staged || task.has(TaskFlag::recalled) || !view_.can_run(task, idle.id))
          continue;
        launcher_.recall(task);
        break;
      }
      if (pipeline.recalls != 0) break;
    }
  }
}

/// If nothing runs or is in flight although tasks are ready, the policy must give one out. Returns true if a waiting
/// task was admitted or dropped, so that others must be tried again.
bool Dispatcher::force_progress(Commands& out) {
  while (pipelines_.tasks() == 0 && held_by_policy_ > 0 && memory_.transfers().in_flight() == 0) {
    Task* task = nullptr;
    WorkerId worker{};
    bool anybody = false;
    for (const WorkerInfo& candidate : view_.workers()) {
      if (!pipelines_[candidate.id].present) continue;
      anybody = true;
      worker = candidate.id;
      if ((task = policy_->pick(worker, true)) != nullptr) break;
    }
    if (!anybody) {
      if (pipelines_.any_lost()) ensure_worker_is_left();
      return false;
    }
    if (task == nullptr && view_.is_simulation_running() && policy_->awaits_simulation()) return false;
    // A task for an accelerator that is still starting must not run elsewhere: its data would settle there.
    if (task == nullptr && awaited_ != 0) return false;
    for (std::size_t i = 0; task == nullptr && i < view_.workers().size(); ++i) {
      if (!pipelines_.all()[i].present) continue;
      worker = view_.workers()[i].id;
      task = policy_->take_any(worker);
    }
    if (task == nullptr) {  // no present worker can run what is ready
      if (pipelines_.any_lost()) ensure_worker_is_left();
      if (std::ranges::all_of(pipelines_.all(), &Pipeline::present))
        throw Error("internal: the policy " + options_.policy_name + " picks none of " +
                    std::to_string(held_by_policy_) + " ready tasks");
      return false;
    }
    take_from_policy(*task, worker, out);
    follow(out);
  }
  if (!blocked_on_memory()) return false;
  if (memory_.changed()) return true;  // waiting tasks have not been tried since the change
  // Nothing in flight can release memory, so one of the waiting tasks must have been admissible.
  bool progress = admit_pseudo_tasks(out);
  for (const WorkerInfo& worker : view_.workers()) progress |= try_admit(worker.id, out);
  follow(out);
  if (progress && options_.check_invariants)
    throw Error("internal: a task blocked on memory was not retried after memory was freed");
  // Holds of the application may be the obstacle. Then its wait reports an error, see Engine::is_quiescent().
  if (!progress && !memory_.changed() && blocked_on_memory() && pseudo_tasks_.granted().empty() &&
      !fast_path_.pinned())
    throw Error("internal: " + std::to_string(waiting()) +
                " tasks are blocked on memory, and nothing frees any");
  return progress;
}

bool Dispatcher::blocked_on_memory() const noexcept {
  return waiting() > 0 && pipelines_.tasks() == pipelines_.unadmitted() && pseudo_tasks_.arriving().empty() &&
         memory_.transfers().in_flight() == 0;
}

}  // namespace fairlead::engine
