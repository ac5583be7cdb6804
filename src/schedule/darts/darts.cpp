// Algorithm 3 and the eviction of section 5.4, in the order of the paper.
#include "schedule/darts/darts.hpp"

#include <algorithm>

namespace fairlead::schedule {

using darts::HeldTask;
using darts::no_slot;
using darts::Slot;

void Darts::attached() {
  index_.attach(view());
  for (const NodeInfo& info : view().nodes()) {
    if (slots_.size() <= index(info.id)) slots_.resize(index(info.id) + 1, no_slot);
    slots_[index(info.id)] = static_cast<Slot>(nodes_.size());
    Node& node = nodes_.emplace_back();
    node.id = info.id;
    for (const WorkerInfo& worker : view().workers())
      if (worker.node == info.id) node.workers.push_back(worker.id);
    node.one_worker = node.workers.size() == 1;
  }
}

// ---- tasks come and go

// A task that is free somewhere bypasses readyTasks (end of section 5.3).
void Darts::ready(Task& task, WorkerId) {
  HeldTask& held = index_.make(task);
  task.policy_data = &held;
  if (const Slot slot = least_queued_free(held); slot != no_slot)
    plan(held, slot);
  else
    enter(held);
}

void Darts::returned(Task& task) {
  forget_awaited(task);
  ready(task, no_id<WorkerId>);
}

void Darts::cancelled(Task& task) {
  if (task.policy_data != nullptr) {  // not picked after all
    auto& held = *static_cast<HeldTask*>(task.policy_data);
    index_.take_out(held, false);
    index_.release(held);
    task.policy_data = nullptr;
  } else {
    forget_awaited(task);
  }
}

void Darts::finished(Task& task, WorkerId worker, Duration) {
  const Slot slot = slot_of(worker);
  nodes_[slot].plans_changed = true;
  index_.fetch_lists();
  for (const Access& access : task.accesses())
    if (reads(access.mode) && index_.awaited(access.datum, slot))
      index_.set_awaited(access.datum, slot, awaited_by_pipeline(access.datum, slot, &task));
}

// What was planned for the node and none of its other workers can run is for everybody again.
void Darts::worker_lost(WorkerId worker) {
  const Slot slot = slot_of(worker);
  std::vector<WorkerId>& left = nodes_[slot].workers;
  std::erase(left, worker);
  index_.worker_lost(worker, slot);
  found_.clear();
  for (HeldTask* held = index_.planned_tasks(slot).front(); held != nullptr; held = held->next)
    if (std::ranges::none_of(left, [&](WorkerId w) { return view().can_run(*held->task, w); }))
      found_.push_back(held);
  const std::vector<HeldTask*> stranded = found_;
  for (HeldTask* held : stranded) {
    Task& task = *held->task;
    index_.take_out(*held, false);
    index_.release(*held);
    ready(task, no_id<WorkerId>);
  }
}

/// The node on which the task needs nothing more and the fewest tasks are planned or in taskBuffer.
Slot Darts::least_queued_free(const HeldTask& held) {
  Slot best = no_slot;
  std::size_t least = 0;
  for (Slot slot = 0; slot < nodes_.size(); ++slot) {
    if (held.on(slot).missing != 0) continue;
    if (nodes_.size() == 1) return slot;
    view().pipeline(nodes_[slot].id, pipeline_);
    const std::size_t queued = index_.planned_tasks(slot).size() + pipeline_.size();
    if (best != no_slot && queued >= least) continue;
    best = slot;
    least = queued;
  }
  return best;
}

// ---- data come and go

void Darts::reserved(DatumId datum, NodeId node) {
  const Slot slot = slot_of(node);
  if (slot != no_slot) index_.came(datum, slot);
}

void Darts::loaded(DatumId datum, NodeId node) {
  const Slot slot = slot_of(node);
  if (slot != no_slot) index_.came(datum, slot);
  index_.transfer_changed(datum, slot);
}

// Section 5.4: tasks of plannedTasks that lose an input return to readyTasks, unless taskBuffer brings it
// back.
void Darts::dropped(DatumId datum, NodeId node, DropReason) {
  const Slot slot = slot_of(node);
  if (slot != no_slot) {
    const bool awaited = awaited_by_pipeline(datum, slot, nullptr);
    index_.went(datum, slot, awaited);
    if (!awaited && !index_.resident(datum, slot)) {
      index_.planned_users(datum, slot, found_);
      for (HeldTask* held : found_) index_.take_out(*held, false);
      for (HeldTask* held : found_) {
        index_.count_missing(*held);
        enter(*held);
      }
      if (!found_.empty()) nodes_[slot].plans_changed = true;
    }
  }
  index_.transfer_changed(datum, slot);
  index_.fetch_lists();
}

/// Whether a picked task that is not yet admitted will bring the datum.
bool Darts::awaited_by_pipeline(DatumId datum, Slot slot, const Task* except) {
  view().pipeline(nodes_[slot].id, pipeline_);
  for (const Task* task : pipeline_) {
    if (task == except || task->state != TaskState::picked) continue;
    for (const Access& access : task->accesses())
      if (access.datum == datum && reads(access.mode)) return true;
  }
  return false;
}

/// The task is no longer picked: what only it was to bring is missing.
void Darts::forget_awaited(const Task& task) {
  for (Slot slot = 0; slot < nodes_.size(); ++slot) {
    nodes_[slot].plans_changed = true;
    for (const Access& access : task.accesses())
      if (reads(access.mode) && index_.awaited(access.datum, slot))
        index_.set_awaited(access.datum, slot, awaited_by_pipeline(access.datum, slot, &task));
  }
}

// ---- Algorithm 3

// A node that finds nothing costs next to nothing to ask again: all that fill() looks at is empty.
Task* Darts::pick(WorkerId worker, bool must) {
  const Slot slot = slot_of(worker);
  index_.fetch_records(slot);
  do {
    if (Task* task = take_planned(slot, worker); task != nullptr) return task;
  } while (fill(slot));
  if (!must) return nullptr;
  for (Slot other = 0; other < nodes_.size(); ++other)  // nobody else will, it seems
    for (HeldTask* held = index_.planned_tasks(other).front(); held != nullptr; held = held->next)
      if (view().can_run(*held->task, worker)) return take(*held, slot);
  return nullptr;
}

/// Puts more into plannedTasks; false if there is nothing to put.
bool Darts::fill(Slot slot) {
  index_.take_free(slot, found_);
  if (found_.empty()) {
    if (const darts::Worth* best = index_.best(slot); best != nullptr) {
      ++decisions_;
      if (best->s0 > 0)
        index_.enabled(best->datum, slot, found_);
      else
        found_.assign(1, index_.best_with_one_more(best->datum, slot));
    } else if (HeldTask* far = index_.best_far(slot); far != nullptr) {
      found_.assign(1, far);
    } else {
      return recall(slot);
    }
  }
  for (HeldTask* held : found_) index_.take_out(*held, false);
  for (HeldTask* held : found_) plan(*held, slot);
  index_.expect_next_best(slot);
  return !found_.empty();
}

void Darts::plan(HeldTask& held, Slot slot) {
  index_.to_planned(held, slot);
  nodes_[slot].plans_changed = true;
  __builtin_prefetch(&held.task->policy_data);  // looked at when it is picked
}

Task* Darts::take_planned(Slot slot, WorkerId worker) {
  for (HeldTask* held = index_.planned_tasks(slot).front(); held != nullptr; held = held->next)
    if (nodes_[slot].one_worker || view().can_run(*held->task, worker)) return take(*held, slot);
  return nullptr;
}

/// Hands a planned task out, to run on `slot`.
Task* Darts::take(HeldTask& held, Slot slot) {
  if (held.planned_on != slot) {
    index_.take_out(held, false);
    index_.to_planned(held, slot);
  }
  index_.take_out(held, true);
  nodes_[slot].plans_changed = true;
  Task* task = held.task;
  task->policy_data = nullptr;
  index_.release(held);
  return task;
}

// ---- eviction and prefetch

// Stamps the data that taskBuffer uses (and, for Belady, plannedTasks) with the position of their next use:
// from the last to the first, so that nobody has to ask whether there is one already.
void Darts::compute_next_uses(Slot slot) {
  Node& node = nodes_[slot];
  if (!node.plans_changed) return;
  node.plans_changed = false;
  ++node.stamp;
  view().pipeline(node.id, pipeline_);
  const bool all = options_.eviction == DartsEviction::belady;
  const darts::HeldList& planned = index_.planned_tasks(slot);
  auto position = static_cast<std::uint32_t>(pipeline_.size() + (all ? planned.size() : 0));
  const auto use = [&](DatumId datum) {
    if (index(datum) >= node.next_use.size()) node.next_use.resize(2 * index(datum) + 1);
    node.next_use[index(datum)] = {node.stamp, position};
  };
  for (const HeldTask* held = all ? planned.back() : nullptr; held != nullptr; held = held->previous) {
    --position;
    for (const darts::Use& input : held->uses()) use(input.datum);
  }
  for (std::size_t i = pipeline_.size(); i-- > 0;) {
    --position;
    for (const Access& access : pipeline_[i]->accesses())
      if (reads(access.mode)) use(access.datum);
  }
}

DatumId Darts::victim(NodeId at, Candidates& candidates) {
  const Slot slot = slot_of(at);
  if (slot == no_slot) return candidates.next();
  compute_next_uses(slot);
  const Node& node = nodes_[slot];
  DatumId best = no_id<DatumId>;
  std::uint32_t fewest = 0, furthest = 0;
  bool best_buffered = true;
  for (DatumId datum = candidates.next(); datum != no_id<DatumId>; datum = candidates.next()) {
    const bool used = index(datum) < node.next_use.size() && node.next_use[index(datum)].stamp == node.stamp;
    if (used) {
      const std::uint32_t position = node.next_use[index(datum)].position;
      if (!best_buffered || (best != no_id<DatumId> && position <= furthest)) continue;
      best = datum;
      furthest = position;
    } else {
      const std::uint32_t planned = index_.planned_users(datum, slot);
      if (planned == 0) {  // nothing can be better: no plan uses it, and it is the oldest such
        if (const DatumId next = candidates.next(); next != no_id<DatumId>) index_.expect(next);
        return datum;
      }
      if (!best_buffered && planned >= fewest) continue;
      best = datum;
      fewest = planned;
      best_buffered = false;
    }
  }
  return best;
}

std::size_t Darts::upcoming(WorkerId worker, std::span<DatumId> out) {
  const Slot slot = slot_of(worker);
  Node& node = nodes_[slot];
  const std::uint64_t version = index_.planned_lacks_version(slot);
  if (node.lacked_version != version || node.lacked_asked < out.size()) {
    node.lacked_version = version;
    node.lacked_asked = out.size();
    find_lacked(slot);
  }
  const std::size_t count = std::min(node.lacked.size(), out.size());
  std::ranges::copy_n(node.lacked.begin(), static_cast<std::ptrdiff_t>(count), out.begin());
  return count;
}

void Darts::find_lacked(Slot slot) {
  std::vector<DatumId>& lacked = nodes_[slot].lacked;
  lacked.clear();
  for (const HeldTask* held = index_.planned_tasks(slot).front(); held != nullptr; held = held->next)
    for (const darts::Use& use : held->uses()) {
      if (lacked.size() == nodes_[slot].lacked_asked) return;
      if (!index_.resident(use.datum, slot) && std::ranges::find(lacked, use.datum) == lacked.end())
        lacked.push_back(use.datum);
    }
}

void Darts::planned(NodeId node, std::vector<const Task*>& out) const {
  out.clear();
  for (const HeldTask* held = index_.planned_tasks(slot_of(node)).front(); held != nullptr; held = held->next)
    out.push_back(held->task);
}

std::unique_ptr<Policy> make_darts() { return std::make_unique<Darts>(); }
std::unique_ptr<Policy> make_darts_belady() {
  return std::make_unique<Darts>(DartsOptions{.eviction = DartsEviction::belady});
}

}  // namespace fairlead::schedule
