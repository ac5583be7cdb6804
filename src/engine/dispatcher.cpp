// See dispatcher.hpp.
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
      pseudo_tasks_(parts.pseudo_tasks),
      roles_(parts.roles),
      endings_(parts.endings),
      lane_(parts.lane),
      stop_(parts.stop),
      options_(options) {
  for (const WorkerInfo& worker : view_.workers()) awaited_ += worker.kind != WorkerKind::cpu;
  devices_ = memory_.topology().devices();
}

// ---- what happened

void Dispatcher::ready(Task& task, Commands& out) {
  ensure(task.state == TaskState::waiting, "a task becomes ready once");
  if (task.role != TaskRole::program) [[unlikely]] {
    if (roles_.of(task).ends_unbegun(task, out)) return;
    if (!task.by_worker()) {
      // Those before it were asked when something had changed.
      task.state = TaskState::ready;
      if (!admit_pseudo_task(task, out)) pseudo_tasks_.wait(task);
      return;
    }
  }
  if (endings_.hopeless(task)) return endings_.drop(task, out);
  if (nobody_can_run(task)) [[unlikely]] {
    task.failure = memory_.losses().nobody_left();
    return endings_.drop(task, out);
  }
  for (const Access& access : task.accesses()) memory_.look_ahead(access.datum);
  task.state = TaskState::ready;
  ++held_by_policy_;
  policy_->ready(task, task.worker);
}

void Dispatcher::over(Task& task, bool succeeded) {
  ensure(task.state == TaskState::staged, "a task that finishes was staged");
  const WorkerId worker = task.worker;
  if (pipelines_.over(task, view_.now(), launcher_.in_lane(worker))) depth_.starved();
  if (policy_.wants_progress() && !task.has(TaskFlag::told_started)) policy_->started(task, worker);
  memory_.release(task, succeeded ? memory::Outcome::succeeded : memory::Outcome::failed, effects_);
  succeeded ? memory_.flushes().early().changed(task, effects_) : memory_.flushes().early().forget(task);
  if (!succeeded) lane_.close();
  endings_.ran(task);
  durations_.over(task, succeeded);
  if (task.workers_wanted != 0) [[unlikely]]
    gathering_.over(task, true);
  task.state = TaskState::finished;
  if (policy_.wants_progress()) {
    policy_->finished(task, worker, task.duration);
    launcher_.tell_started(worker);
  }
  depth_.task_over(task.duration);
}

void Dispatcher::returned(Task& task) {
  pipelines_.answered(task.worker);
  unstage(task);
  const Pipeline& from = pipelines_[task.worker];
  WorkerId best = task.worker;
  for (const WorkerInfo& worker : view_.workers()) {
    if (from.aside) break;  // stage() looks for room elsewhere; all that this worker had comes back now
    const Pipeline& pipeline = pipelines_[worker.id];
    if (!pipeline.present || pipeline.aside || worker.node != task.node || !view_.can_run(task, worker.id))
      continue;
    if (!pipelines_[best].present || pipeline.tasks.size() < pipelines_[best].tasks.size()) best = worker.id;
  }
  if (options_.mistake.is(Mistake::returned_task_lost)) return pipelines_.take_out(task);
  if (best == task.worker && from.lost) return give_back(task);  // nobody else is there
  if (best != task.worker || !from.aside) gathering_.change_worker(task, best);
  // It is launched after the events that are served together, or its end could come among these.
  effects_.landed.push_back(&task);
}

void Dispatcher::unbegun(Task& task) {
  unstage(task);
  give_back(task);
}

/// Its worker has not begun it and will not.
void Dispatcher::unstage(Task& task) {
  pipelines_.unstage(task);
  task.clear(TaskFlag::recalled);
  durations_.returned(task);
  if (task.workers_wanted != 0) gathering_.over(task, false);
}

void Dispatcher::lost(WorkerId worker, Commands& out) {
  if (pipelines_[worker].lost) return;
  if (pipelines_.lost(worker)) worker_arrived(worker);
  lane_.close();
  if (memory_.losses().any() && is_last_of_device(worker)) drop_stranded(worker, out);
  policy_->worker_lost(worker);
  if (options_.mistake.is(Mistake::lost_worker_served)) return;
  const PickedTasks& tasks = pipelines_[worker].tasks;
  for (std::size_t i = 0; i < tasks.size();) {
    Task& task = tasks[i];
    // Those that are put off go with their span or to another worker; those that failed end; those that are staged
    // are the world's, which is asked for them.
    if (task.state == TaskState::staged || task.has(TaskFlag::put_off) || task.failure != nullptr)
      ++i;
    else
      give_back(task);
  }
}

/// What this worker was to run and has not begun is the policy's again, and holds nothing.
void Dispatcher::give_back(Task& task) {
  if (nobody_can_run(task)) {
    task.failure = memory_.losses().nobody_left();
    return effects_.failed.push_back(&task);
  }
  if (task.state == TaskState::picked)
    memory_.forget_claim(task);
  else
    memory_.release(task, memory::Outcome::returned, effects_);
  pipelines_.take_out(task);
  memory_.note_change();  // who was behind it may be first now
  task.clear(TaskFlag::told_started);
  task.worker = no_id<WorkerId>;
  task.state = TaskState::ready;
  ++held_by_policy_;
  policy_->returned(task);
}

/// A device was lost, and nobody is there, or may still come, that could.
bool Dispatcher::nobody_can_run(const Task& task) const noexcept {
  return memory_.losses().any() && std::ranges::none_of(view_.workers(), [&](const WorkerInfo& worker) {
           return !pipelines_[worker.id].lost && view_.can_run(task, worker.id);
         });
}

/// What the policy has for this worker, which it does not know to be lost, and nobody else can run.
void Dispatcher::drop_stranded(WorkerId worker, Commands& out) {
  std::vector<Task*> others;
  while (held_by_policy_ != 0) {
    Task* task = policy_->pick(worker, true);
    if (task == nullptr) task = policy_->take_any(worker);
    if (task == nullptr) break;
    --held_by_policy_;
    if (nobody_can_run(*task)) {
      task->failure = memory_.losses().nobody_left();
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

/// The last worker of its kind there is.
bool Dispatcher::is_last_of_device(WorkerId worker) const noexcept {
  const WorkerInfo& lost = view_.workers()[index(worker)];
  return std::ranges::none_of(view_.workers(), [&](const WorkerInfo& other) {
    return other.node == lost.node && other.kind == lost.kind && !pipelines_[other.id].lost;
  });
}

/// One task of each at a time.
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

/// Throws if nothing can run what is ready.
void Dispatcher::ensure_somebody_is_left() const {
  std::string lost;
  for (const WorkerInfo& worker : view_.workers()) {
    const Pipeline& pipeline = pipelines_[worker.id];
    if (!pipeline.lost && !pipeline.present) return;  // it may arrive
    if (pipeline.lost) lost += (lost.empty() ? "" : ", ") + std::to_string(index(worker.id));
  }
  throw Error(std::to_string(held_by_policy_) +
              " tasks are ready, and no worker that could run them is left: lost are " + lost);
}

// ---- what follows

void Dispatcher::follow(Commands& out) {
  for (std::size_t i = 0; i < effects_.landed.size(); ++i) {
    Task& task = *effects_.landed[i];
    if (task.state != TaskState::admitted || task.pending_copies != 0) continue;
    if (task.failure != nullptr) continue;  // another of its copies has failed, in the same batch of events
    landed(task, out);
  }
  effects_.landed.clear();
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

/// Its data are there.
void Dispatcher::landed(Task& task, Commands& out) {
  if (task.by_worker()) [[likely]]
    return stage(task, out);
  pseudo_tasks_.arrived(task);
  roles_.of(task).landed(task, out);
}

/// Some of its data will not come.
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

/// Starts what can start, and goes on with gathering. True if memory was given back.
bool Dispatcher::advance_gathering(Commands& out) {
  bool freed = false;
  gathering_.recall_left_behind();
  while (pipelines_.any_lost()) {
    Task* const task = gathering_.forsaken();
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
  if (gathering_.any()) [[unlikely]]
    advance_gathering(out);
  do {
    hand_out(out);
    if (pipelines_.unadmitted() != 0) share_unadmitted(out);
    share_staged();
  } while (insist(out) || (gathering_.any() && advance_gathering(out)) || somebody_may_fit());
  if (pipelines_.any_lost()) [[unlikely]]
    recall_from_lost();  // what was put off has been launched where it was
  prefetch_upcoming(out);
}

/// Those that fit now. True if there is one less that waits.
bool Dispatcher::admit_pseudo_tasks(Commands& out) {
  return pseudo_tasks_.wait_no_more([&](Task& task) {
    if (!roles_.of(task).ends_unbegun(task, out)) return admit_pseudo_task(task, out);
    memory_.forget_claim(task);
    return true;
  });
}

/// A pseudo-task uses its data where the program is, unless it names a device, or is to be where its datum is.
NodeId Dispatcher::place_of(const Task& task) const {
  if (task.place == PlaceHint{} || task.at_home()) return view_.host();
  const auto usable = [&](NodeId node) { return !memory_.state().is_lost(node); };
  if (task.node != no_id<NodeId> && usable(task.node)) return task.node;  // there it may have a claim
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
  if (task.pending_copies == 0) landed(task, out);
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
    // Also if nobody was admitted: what makes way may be on its way home.
    if (!effects_.started.empty() || !effects_.failed.empty()) follow(out);
    again |= somebody_may_fit();
  }
}

/// At most one more task for this worker. True if something changed.
bool Dispatcher::give_one(WorkerId worker, Commands& out) {
  const Pipeline& pipeline = pipelines_[worker];
  if (!pipeline.present || pipeline.aside || pipeline.tasks.size() >= depth_.depth() || held_by_policy_ == 0)
    return false;
  if (pipeline.unadmitted > 0) {
    // Looking further only helps if what waits does so for a token, not for memory.
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

/// The policy has given the task out for this worker.
void Dispatcher::take_from_policy(Task& task, WorkerId worker, Commands& out) {
  --held_by_policy_;
  if (endings_.unwanted(task)) return endings_.drop(task, out);
  pipelines_.pick(task, worker);
  try_admit(worker, out);
}

/// Admits what waits for memory in this pipeline, in order.
bool Dispatcher::try_admit(WorkerId worker, Commands& out) {
  const Pipeline& pipeline = pipelines_[worker];
  bool progress = false;
  for (std::size_t i = pipeline.first_unadmitted(); i < pipeline.tasks.size() && pipeline.unadmitted > 0;) {
    Task& task = pipeline.tasks[i];
    if (task.state != TaskState::picked) {
      ++i;
      continue;
    }
    // A commutative task may learn only now that another of its group failed.
    if (endings_.hopeless(task)) {
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
    ++i;  // one behind it may be the node's claimant, or need no space
  }
  return progress;
}

/// Data of tasks that are next once workers have what they get ahead, into space that nobody waits for (rule 6).
void Dispatcher::prefetch_upcoming(Commands& out) {
  if (held_by_policy_ == 0 || stop_.error() != 0 || waiting() != 0) return;
  const std::size_t enough = policy_->picks_late() ? 1 : depth_.depth();
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

/// Workers with nothing to do get a task that waits behind another one of their node: there it may take half
/// of the node only, here all.
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

/// Workers with nothing to do get the last staged task of a neighbour that has more than it can start now.
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

/// If nothing runs and nothing moves although tasks are ready, the policy has to give one out.
/// True if what waited for memory was admitted, or found to be cancelled: then others may have their turn.
bool Dispatcher::insist(Commands& out) {
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
      if (pipelines_.any_lost()) ensure_somebody_is_left();
      return false;
    }
    if (task == nullptr && view_.rehearsal_under_way() && policy_->waits()) return false;
    // What is for an accelerator that is just starting does not go elsewhere: the data would live there.
    if (task == nullptr && awaited_ != 0) return false;
    for (std::size_t i = 0; task == nullptr && i < view_.workers().size(); ++i) {
      if (!pipelines_.all()[i].present) continue;
      worker = view_.workers()[i].id;
      task = policy_->take_any(worker);
    }
    if (task == nullptr) {  // no present worker can run what is ready
      if (pipelines_.any_lost()) ensure_somebody_is_left();
      if (std::ranges::all_of(pipelines_.all(), &Pipeline::present))
        throw Error("internal: the policy " + options_.policy_name + " gives out none of " +
                    std::to_string(held_by_policy_) + " ready tasks");
      return false;
    }
    take_from_policy(*task, worker, out);
    follow(out);
  }
  if (!everything_waits_for_memory()) return false;
  if (memory_.changed()) return true;  // they have not been asked since
  // Nothing that could free some is under way: then somebody must have been admitted.
  bool progress = admit_pseudo_tasks(out);
  for (const WorkerInfo& worker : view_.workers()) progress |= try_admit(worker.id, out);
  follow(out);
  if (progress && options_.check_invariants)
    throw Error("internal: who waited for memory was not asked again when there was some");
  // What the application holds may lie in the way: it is told when it waits, see Engine::quiet().
  if (!progress && !memory_.changed() && everything_waits_for_memory() && pseudo_tasks_.granted().empty() &&
      !lane_.pinned())
    throw Error("internal: " + std::to_string(waiting()) + " tasks wait for memory and nothing frees any");
  return progress;
}

bool Dispatcher::everything_waits_for_memory() const noexcept {
  return waiting() > 0 && pipelines_.tasks() == pipelines_.unadmitted() && pseudo_tasks_.arriving().empty() &&
         memory_.transfers().in_flight() == 0;
}

}  // namespace fairlead::engine
