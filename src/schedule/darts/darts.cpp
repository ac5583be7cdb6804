// Algorithm 3 and the eviction of section 5.4, in the order of the paper.
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
  for (Slot other = 0; must && other < index_.slots(); ++other)  // no worker would run these otherwise
    if (Task* task = take_planned(other, worker); task != nullptr) return task;
  return nullptr;
}

/// Lines 2 to 17: moves more tasks to plannedTasks. False if there is none.
bool Darts::fill(Slot k) {
  index_.take_free(k, found_);
  if (found_.empty()) {
    if (const LoadPriority* opt = index_.best(k); opt != nullptr) {  // lines 2 to 6
      ++decisions_;
      if (opt->s0 > 0)  // lines 7 and 8
        index_.s0(opt->datum, k, found_);
      else  // lines 10 to 12
        found_.assign(1, index_.most_urgent_of_s1(opt->datum, k));
    } else if (DartsTask* far = index_.most_urgent_incomplete(k); far != nullptr) {  // lines 14 to 16
      found_.assign(1, far);
    } else {
      return recall(k);
    }
  }
  for (DartsTask* held : found_) index_.take_out(*held, false);
  for (DartsTask* held : found_) plan(*held, k);
  return !found_.empty();
}

/// Appends the task to plannedTasks and removes its inputs from dataNotInMem (lines 9, 13 and 17).
void Darts::plan(DartsTask& held, Slot k) {
  index_.to_planned(held, k);
  next_uses_[k].order_changed();
}

/// Moves the first task of plannedTasks that the worker can run to its node's taskBuffer.
Task* Darts::take_planned(Slot from, WorkerId worker) {
  for (DartsTask& held : index_.planned_tasks(from))
    if (view().can_run(*held.task, worker)) return take(held, slot_of(worker));
  return nullptr;
}

Task* Darts::take(DartsTask& held, Slot k) {
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

// ---- arrival and departure of tasks and data: the end of section 5.3

/// Picked for the node, not finished.
const std::vector<const Task*>& Darts::task_buffer(Slot k) {
  view().pipeline(view().nodes()[k].id, task_buffer_);
  return task_buffer_;
}

// Tasks that lack no data on some node bypass readyTasks.
void Darts::ready(Task& task, WorkerId) {
  DartsTask& held = index_.make(task);
  task.policy_data = &held;
  if (const Slot k = least_queued_free(held); k != no_slot)
    plan(held, k);
  else
    enter(held);
}

/// The node that has the task's data and the fewest tasks planned or in taskBuffer; no_slot if none.
Slot Darts::least_queued_free(const DartsTask& held) {
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
  if (k != no_slot) index_.datum_arrived(datum, k);
}

void Darts::arrived(DatumId datum, NodeId node) {
  reserved(datum, node);
  index_.transfer_changed(datum, index_.slot_of(node));
}

void Darts::finished(Task& task, WorkerId worker, Duration) { forget_awaited(task, slot_of(worker)); }

void Darts::returned(Task& task) {
  for (Slot k = 0; k < index_.slots(); ++k) forget_awaited(task, k);
  ready(task, no_id<WorkerId>);
}

void Darts::cancelled(Task& task) {
  if (task.policy_data != nullptr)  // not picked yet
    forget(*static_cast<DartsTask*>(task.policy_data));
  else
    for (Slot k = 0; k < index_.slots(); ++k) forget_awaited(task, k);
}

/// Removes an unpicked task from its list.
Task& Darts::forget(DartsTask& held) {
  Task& task = *held.task;
  index_.take_out(held, false);
  index_.release(held);
  task.policy_data = nullptr;
  return task;
}

/// A task in taskBuffer without reserved memory will load the datum.
bool Darts::awaited_by_buffer(DatumId datum, Slot k, const Task* except) {
  return std::ranges::any_of(task_buffer(k), [&](const Task* task) {
    return task != except && task->state == TaskState::picked &&
           std::ranges::any_of(task->accesses(), [&](const Access& access) {
             return access.datum == datum && reads(access.mode);
           });
  });
}

/// The task leaves taskBuffer: data that only it was to load are missing again.
void Darts::forget_awaited(const Task& task, Slot k) {
  next_uses_[k].order_changed();
  for (const Access& access : task.accesses())
    if (reads(access.mode) && index_.is_being_loaded(access.datum, k))
      index_.set_awaited(access.datum, k, awaited_by_buffer(access.datum, k, &task));
}

// Planned tasks that the node's other workers cannot run become ready again.
void Darts::worker_lost(WorkerId worker) {
  std::vector<DartsTask*> stranded;
  index_.worker_lost(worker, slot_of(worker), stranded);
  for (DartsTask* held : stranded) ready(forget(*held), no_id<WorkerId>);
}

// ---- section 5.4

// Evicts a datum that taskBuffer does not use and the fewest planned tasks use; if all are used, Belady's rule.
// Ties: the least recently used.
DatumId Darts::victim(NodeId node, EvictionCandidates& candidates) {
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
      if (planned == 0) return datum;  // optimal
      if (!best_is_used && planned >= fewest) continue;
      best = datum;
      fewest = planned;
      best_is_used = false;
    }
  }
  return best;
}

/// The next uses in taskBuffer, for the belady variant then in plannedTasks.
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
    for (const DartsTask& held : index_.planned_tasks(k)) {
      for (const auto& input : held.uses()) uses.use(input.datum);
      uses.next_task();
    }
  return uses;
}

// Tasks of plannedTasks that lose an input return to readyTasks, unless a task in taskBuffer loads it again.
void Darts::dropped(DatumId datum, NodeId node, DropReason) {
  const Slot k = index_.slot_of(node);
  if (k != no_slot) {
    const bool awaited = awaited_by_buffer(datum, k, nullptr);
    index_.datum_left(datum, k, awaited);
    if (!awaited && !index_.resident(datum, k)) {
      index_.planned_users(datum, k, found_);
      for (DartsTask* held : found_) index_.take_out(*held, false);
      for (DartsTask* held : found_) {
        index_.count_missing(*held);
        enter(*held);
      }
      if (!found_.empty()) next_uses_[k].order_changed();
    }
  }
  index_.transfer_changed(datum, k);
}

// ---- queries

std::size_t Darts::upcoming(WorkerId worker, std::span<DatumId> out) {
  if (rules_.prefetch == DartsPrefetch::buffer) return 0;
  const std::span<const DatumId> lacked = index_.planned_lacks(slot_of(worker), out.size());
  std::ranges::copy(lacked, out.begin());
  return lacked.size();
}

void Darts::planned(NodeId node, std::vector<const Task*>& out) const {
  out.clear();
  for (const DartsTask& held : index_.planned_tasks(index_.slot_of(node))) out.push_back(held.task);
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
