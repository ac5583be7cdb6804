// Algorithm 3 and the eviction of section 5.4, in the paper's order.
#include "schedule/darts/darts.hpp"

#include <algorithm>

namespace fairlead::schedule {

void Darts::attached() {
  index_.attach(view());
  next_uses_.resize(index_.slots());
}

// ---- Algorithm 3, "when PU_k requests a new task"

Task* Darts::pick(WorkerId worker, bool must) {
  const Slot k = slot_of(worker);
  do {
    if (Task* head = take_planned(k, worker); head != nullptr) return head;  // line 18
  } while (fill(k));                                                         // line 1
  for (Slot other = 0; must && other < index_.slots(); ++other)              // nobody else will, it seems
    if (Task* task = take_planned(other, worker); task != nullptr) return task;
  return nullptr;
}

/// Lines 2 to 17: puts more into plannedTasks. False if there is nothing to put.
bool Darts::fill(Slot k) {
  index_.take_free(k, found_);
  if (found_.empty()) {
    if (const Worth* opt = index_.best(k); opt != nullptr) {  // lines 2 to 6
      ++decisions_;
      if (opt->s0 > 0)  // lines 7 and 8
        index_.s0(opt->datum, k, found_);
      else  // lines 10 to 12
        found_.assign(1, index_.most_urgent_of_s1(opt->datum, k));
    } else if (HeldTask* far = index_.most_urgent_far(k); far != nullptr) {  // lines 14 to 16
      found_.assign(1, far);
    } else {
      return recall(k);
    }
  }
  for (HeldTask* held : found_) index_.take_out(*held, false);
  for (HeldTask* held : found_) plan(*held, k);
  return !found_.empty();
}

/// Appends the task to plannedTasks; its inputs leave dataNotInMem (lines 9, 13 and 17).
void Darts::plan(HeldTask& held, Slot k) {
  index_.to_planned(held, k);
  next_uses_[k].order_changed();
}

/// The head of plannedTasks, of those that the worker can run; it goes to taskBuffer of the worker's node.
Task* Darts::take_planned(Slot from, WorkerId worker) {
  for (HeldTask& held : index_.planned_tasks(from))
    if (view().can_run(*held.task, worker)) return take(held, slot_of(worker));
  return nullptr;
}

Task* Darts::take(HeldTask& held, Slot k) {
  if (held.planned_on != k) {
    index_.take_out(held, false);
    index_.to_planned(held, k);
  }
  index_.take_out(held, true);
  next_uses_[k].order_changed();
  Task* task = held.task;
  task->policy_data = nullptr;
  index_.release(held);
  return task;
}

// ---- tasks and data come and go: the end of section 5.3

/// Tasks that were picked for the node and are not over.
const std::vector<const Task*>& Darts::task_buffer(Slot k) {
  view().pipeline(view().nodes()[k].id, task_buffer_);
  return task_buffer_;
}

// A task that is free somewhere bypasses readyTasks.
void Darts::ready(Task& task, WorkerId) {
  HeldTask& held = index_.make(task);
  task.policy_data = &held;
  if (const Slot k = least_queued_free(held); k != no_slot)
    plan(held, k);
  else
    enter(held);
}

/// The node on which the task needs nothing more and the fewest tasks are planned or in taskBuffer.
Slot Darts::least_queued_free(const HeldTask& held) {
  Slot best = no_slot;
  std::size_t least = 0;
  for (Slot k = 0; k < index_.slots(); ++k) {
    if (held.on(k).missing != 0) continue;
    if (index_.slots() == 1) return k;
    const std::size_t queued = index_.planned_tasks(k).size() + task_buffer(k).size();
    if (best != no_slot && queued >= least) continue;
    best = k;
    least = queued;
  }
  return best;
}

void Darts::reserved(DatumId datum, NodeId node) {
  const Slot k = index_.slot_of(node);
  if (k != no_slot) index_.came(datum, k);
}

void Darts::loaded(DatumId datum, NodeId node) {
  reserved(datum, node);
  index_.transfer_changed(datum, index_.slot_of(node));
}

void Darts::finished(Task& task, WorkerId worker, Duration) { forget_awaited(task, slot_of(worker)); }

void Darts::returned(Task& task) {
  for (Slot k = 0; k < index_.slots(); ++k) forget_awaited(task, k);
  ready(task, no_id<WorkerId>);
}

void Darts::cancelled(Task& task) {
  if (task.policy_data != nullptr)  // not picked after all
    forget(*static_cast<HeldTask*>(task.policy_data));
  else
    for (Slot k = 0; k < index_.slots(); ++k) forget_awaited(task, k);
}

/// A task that was not picked leaves its list.
Task& Darts::forget(HeldTask& held) {
  Task& task = *held.task;
  index_.take_out(held, false);
  index_.release(held);
  task.policy_data = nullptr;
  return task;
}

/// Whether a task of taskBuffer that is not yet admitted will bring the datum.
bool Darts::awaited_by_buffer(DatumId datum, Slot k, const Task* except) {
  return std::ranges::any_of(task_buffer(k), [&](const Task* task) {
    return task != except && task->state == TaskState::picked &&
           std::ranges::any_of(task->accesses(), [&](const Access& access) {
             return access.datum == datum && reads(access.mode);
           });
  });
}

/// The task leaves taskBuffer: what only it was to bring is missing.
void Darts::forget_awaited(const Task& task, Slot k) {
  next_uses_[k].order_changed();
  for (const Access& access : task.accesses())
    if (reads(access.mode) && index_.awaited(access.datum, k))
      index_.set_awaited(access.datum, k, awaited_by_buffer(access.datum, k, &task));
}

// What was planned for the node and none of its other workers can run is for everybody again.
void Darts::worker_lost(WorkerId worker) {
  std::vector<HeldTask*> stranded;
  index_.worker_lost(worker, slot_of(worker), stranded);
  for (HeldTask* held : stranded) ready(forget(*held), no_id<WorkerId>);
}

// ---- section 5.4

// What taskBuffer does not use and the fewest tasks of plannedTasks do; else Belady's rule. Of equal ones the
// least recently used.
DatumId Darts::victim(NodeId node, Candidates& candidates) {
  const Slot k = index_.slot_of(node);
  if (k == no_slot) return candidates.next();
  const NextUses& next_uses = this->next_uses(k);
  DatumId best = no_id<DatumId>;
  std::uint32_t fewest = 0, furthest = 0;
  bool best_is_used = true;
  for (DatumId datum = candidates.next(); datum != no_id<DatumId>; datum = candidates.next()) {
    if (const std::optional<std::uint32_t> next_use = next_uses.of(datum); next_use.has_value()) {
      if (!best_is_used || (best != no_id<DatumId> && *next_use <= furthest)) continue;
      best = datum;
      furthest = *next_use;
    } else {
      const std::uint32_t planned = index_.planned_users(datum, k);
      if (planned == 0) return datum;  // nothing can be better
      if (!best_is_used && planned >= fewest) continue;
      best = datum;
      fewest = planned;
      best_is_used = false;
    }
  }
  return best;
}

/// In taskBuffer, and for Belady's rule alone in plannedTasks behind it.
const NextUses& Darts::next_uses(Slot k) {
  NextUses& uses = next_uses_[k];
  if (!uses.outdated()) return uses;
  uses.begin();
  for (const Task* task : task_buffer(k)) {
    for (const Access& access : task->accesses())
      if (reads(access.mode)) uses.use(access.datum);
    uses.next_task();
  }
  if (rules_.eviction == DartsEviction::belady)
    for (const HeldTask& held : index_.planned_tasks(k)) {
      for (const Use& input : held.uses()) uses.use(input.datum);
      uses.next_task();
    }
  return uses;
}

// Tasks of plannedTasks that lose an input return to readyTasks, unless taskBuffer brings it back.
void Darts::dropped(DatumId datum, NodeId node, DropReason) {
  const Slot k = index_.slot_of(node);
  if (k != no_slot) {
    const bool awaited = awaited_by_buffer(datum, k, nullptr);
    index_.went(datum, k, awaited);
    if (!awaited && !index_.resident(datum, k)) {
      index_.planned_users(datum, k, found_);
      for (HeldTask* held : found_) index_.take_out(*held, false);
      for (HeldTask* held : found_) {
        index_.count_missing(*held);
        enter(*held);
      }
      if (!found_.empty()) next_uses_[k].order_changed();
    }
  }
  index_.transfer_changed(datum, k);
}

// ---- what others ask

std::size_t Darts::upcoming(WorkerId worker, std::span<DatumId> out) {
  if (rules_.prefetch == DartsPrefetch::buffer) return 0;
  const std::span<const DatumId> lacked = index_.planned_lacks(slot_of(worker), out.size());
  std::ranges::copy(lacked, out.begin());
  return lacked.size();
}

void Darts::planned(NodeId node, std::vector<const Task*>& out) const {
  out.clear();
  for (const HeldTask& held : index_.planned_tasks(index_.slot_of(node))) out.push_back(held.task);
}

std::unique_ptr<Policy> make_darts(const PolicyOptions& options) {
  return std::make_unique<Darts>(darts_rules(options));
}
std::unique_ptr<Policy> make_darts_belady(const PolicyOptions& options) {
  DartsRules rules = darts_rules(options);
  rules.eviction = DartsEviction::belady;
  return std::make_unique<Darts>(rules);
}

}  // namespace fairlead::schedule
