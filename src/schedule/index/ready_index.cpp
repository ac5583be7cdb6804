// Maintains the sums as tasks and data arrive and leave.
#include "schedule/index/ready_index.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::schedule {

using Need = DataUsers::LackState;

void ReadyIndex::attach(View& view) {
  view_ = &view;
  nodes_.reserve(view.nodes().size());
  for (const NodeInfo& info : view.nodes()) {
    const Slot slot = slots();
    if (slot_of_.size() <= index(info.id)) slot_of_.resize(index(info.id) + 1, no_slot);
    slot_of_[index(info.id)] = slot;
    nodes_.push_back(
        {info.id, {}, {}, LoadingOrder(view, info.id, slot, data_, users_), UnlistedReadyTasks(slot)});
  }
  for (const WorkerInfo& worker : view.workers()) nodes_[slot_of(worker.node)].workers.push_back(worker.id);
  data_.attach(nodes_.size());
  users_.attach(nodes_.size());
}

// Data used in place are valid from the start and cause no events, so their residency is read once.
void ReadyIndex::first_use(DatumId datum) {
  if (index(datum) >= used_.size()) used_.resize(2 * index(datum) + 1, false);
  used_[index(datum)] = true;
  for (Slot slot = 0; slot < slots(); ++slot) {
    DatumOnNode& e = data_.at(datum, slot);
    if (e.asked) continue;
    e.asked = true;
    if (view_->residency(datum, nodes_[slot].id) == ReplicaState::absent) continue;
    e.in_place = e.resident = e.present = true;
  }
}

void ReadyIndex::forget(DatumId datum) {
  if (!data_.knows(datum)) return;
  if (index(datum) < used_.size()) used_[index(datum)] = false;
  for (Slot slot = 0; slot < slots(); ++slot) {
    DatumOnNode& e = data_.known(datum, slot);
    e.asked = false;
    e.transfer = DatumOnNode::unknown;
    if (e.in_place) e.in_place = e.resident = e.present = false;
  }
}

// ---- tasks

/// False if the datum is in place on all nodes: it is then never loaded or evicted, and no count includes it.
bool ReadyIndex::may_be_missing(DatumId datum) {
  if (index(datum) >= used_.size() || !used_[index(datum)]) first_use(datum);
  for (Slot slot = 0; slot < slots(); ++slot)
    if (!data_.known(datum, slot).in_place) return true;
  return false;
}

DartsTask& ReadyIndex::make(Task& task) {
  inputs_.clear();
  for (const Access& access : task.accesses())
    if (reads(access.mode) && may_be_missing(access.datum))
      inputs_.push_back(InputUse{.datum = access.datum, .updated = writes(access.mode)});
  DartsTask& held = users_.make(task, inputs_);
  for (Slot slot = 0; slot < slots(); ++slot) {
    const auto& workers = nodes_[slot].workers;
    const auto able = std::ranges::find_if(workers, [&](WorkerId w) { return view_->can_run(task, w); });
    if (able == workers.end())
      held.on(slot).missing = OnNode::unusable;
    else
      held.on(slot).work = std::max<std::int64_t>(1, view_->estimate(task, *able).count());
  }
  count_missing(held);
  users_.note(held);
  return held;
}

void ReadyIndex::count_missing(DartsTask& held) {
  for (Slot slot = 0; slot < slots(); ++slot) {
    OnNode& on = held.on(slot);
    if (!on.usable()) continue;
    std::uint32_t missing = 0, lacks = 0, bit = 1;
    for (const InputUse& use : held.uses()) {
      if (!data_.known(use.datum, slot).present) {
        ++missing;
        lacks |= bit;
      }
      bit <<= 1;
    }
    on.missing = missing & OnNode::unusable;
    on.lacks = lacks;
  }
}

void ReadyIndex::to_ready(DartsTask& held) {
  held.where = DartsTask::Where::ready;
  ++ready_;
  for (Slot slot = 0; slot < slots(); ++slot) {
    const OnNode& on = held.on(slot);
    if (!on.usable()) continue;
    for (const InputUse& use : held.uses()) {
      DatumOnNode& e = data_.known(use.datum, slot);
      e.left += on.work;
      if (!e.present) nodes_[slot].order.became_better(use.datum, e);
    }
    add(held, slot);
    if (on.missing > 2) nodes_[slot].others.far_tasks_changed(+1);
    nodes_[slot].others.list(held, ready_);
    users_.note(held, slot);
  }
}

void ReadyIndex::defer(DartsTask& held) {
  held.where = DartsTask::Where::deferred;
  aside_.push_back(held);
}

void ReadyIndex::to_planned(DartsTask& held, Slot slot) {
  held.where = DartsTask::Where::planned;
  held.planned_on = slot;
  nodes_[slot].planned.push_back(held);
  users_.note(held, slot);
  for (const InputUse& use : held.uses()) {
    DatumOnNode& e = data_.known(use.datum, slot);
    if (!e.resident) nodes_[slot].planned.lacked_changed();
    if (e.planned++ == 0) update_present(use.datum, slot);
  }
}

void ReadyIndex::take_out(DartsTask& held, bool awaited) {
  const DartsTask::Where from = std::exchange(held.where, DartsTask::Where::nowhere);
  if (from == DartsTask::Where::ready) {
    --ready_;
    users_.note(held);
    for (Slot slot = 0; slot < slots(); ++slot) {
      const OnNode& on = held.on(slot);
      if (!on.usable()) continue;
      for (const InputUse& use : held.uses()) {
        DatumOnNode& e = data_.known(use.datum, slot);
        e.left -= on.work;
        LoadingOrder::became_worse(e);
      }
      subtract(held, slot);
      if (on.missing > 2) nodes_[slot].others.far_tasks_changed(-1);
    }
  } else if (from == DartsTask::Where::deferred) {
    aside_.erase(held);
  } else if (from == DartsTask::Where::planned) {
    const Slot slot = std::exchange(held.planned_on, no_slot);
    nodes_[slot].planned.erase(held);
    users_.note(held, slot);
    for (const InputUse& use : held.uses()) {
      DatumOnNode& e = data_.known(use.datum, slot);
      --e.planned;
      if (!e.resident) {
        nodes_[slot].planned.lacked_changed();
        if (awaited) e.awaited = true;
      }
      update_present(use.datum, slot);
    }
  }
}

bool ReadyIndex::can_run_there(const Task& task, Slot slot) const {
  return std::ranges::any_of(nodes_[slot].workers, [&](WorkerId w) { return view_->can_run(task, w); });
}

void ReadyIndex::worker_lost(WorkerId worker, Slot slot, std::vector<DartsTask*>& stranded) {
  std::erase(nodes_[slot].workers, worker);
  std::vector<DartsTask*> ready;
  users_.for_each_record([&](DartsTask& held) {
    if (held.where == DartsTask::Where::ready && !can_run_there(*held.task, slot)) ready.push_back(&held);
  });
  std::ranges::sort(ready, released_before);
  for (DartsTask* held : ready) {
    take_out(*held, false);
    held->on(slot).missing = OnNode::unusable;
    to_ready(*held);
  }
  stranded.clear();
  for (DartsTask& held : nodes_[slot].planned)
    if (!can_run_there(*held.task, slot)) stranded.push_back(&held);
}

void ReadyIndex::set_bonus(DartsTask& held, std::int64_t bonus) {
  const bool counted = held.where == DartsTask::Where::ready;
  for (Slot slot = 0; counted && slot < slots(); ++slot) subtract(held, slot);
  held.bonus = bonus;
  held.has_bonus = bonus != 0;
  for (Slot slot = 0; counted && slot < slots(); ++slot) add(held, slot);
}

// ---- the sums

void ReadyIndex::add(DartsTask& held, Slot slot) {
  const std::uint32_t missing = held.on(slot).missing;
  if (missing == 0 || missing > 2) return;
  for_each_missing(held, slot, [&](DatumId datum, std::uint32_t use) {
    DatumOnNode& e = data_.known(datum, slot);
    if (missing == 1)
      e.add_s0(work(held, use, slot), held.priority);
    else
      e.add_s1(held.priority);
    nodes_[slot].order.became_better(datum, e);
  });
}

void ReadyIndex::subtract(DartsTask& held, Slot slot) {
  const std::uint32_t missing = held.on(slot).missing;
  if (missing == 0 || missing > 2) return;
  for_each_missing(held, slot, [&](DatumId datum, std::uint32_t use) {
    DatumOnNode& e = data_.known(datum, slot);
    if (missing == 1)
      e.remove_s0(work(held, use, slot), held.priority);
    else
      e.remove_s1(held.priority);
    LoadingOrder::became_worse(e);
  });
}

void ReadyIndex::update_present(DatumId datum, Slot slot) {
  DatumOnNode& e = data_.known(datum, slot);
  const bool now = e.resident || e.awaited || e.planned > 0;
  if (now == e.present) return;
  e.present = now;
  users_.for_each(datum, slot, Need::ready, [&](DartsTask& held, const DataUsers::Found& found) {
    OnNode& on = held.on(slot);
    on.missing = (now ? on.missing - 1 : on.missing + 1) & OnNode::unusable;
    if (held.few_uses()) on.lacks ^= 1u << found.use;
    users_.note_lacking(held, found.record, slot);
    if (now)
      lacks_one_less(held, slot);
    else
      lacks_one_more(held, found.use_of(datum), slot, e);
  });
  if (now) {
    e.s0 = e.s1 = 0;
    e.work = 0;
    LoadingOrder::became_worse(e);
  } else {
    e.standing.ratio_better = true;
    nodes_[slot].order.became_better(datum, e);
  }
}

// The sums of the arrived datum become zero anyway, so only those of the other data change here.
void ReadyIndex::lacks_one_less(DartsTask& held, Slot slot) {
  const std::uint32_t missing = held.on(slot).missing;
  if (missing > 2) return;
  if (missing == 0) return nodes_[slot].others.list(held, ready_);
  if (missing == 2) nodes_[slot].others.far_tasks_changed(-1);
  for_each_missing(held, slot, [&](DatumId datum, std::uint32_t use) {
    DatumOnNode& e = data_.known(datum, slot);
    if (missing == 2) {
      e.add_s1(held.priority);
    } else {
      e.remove_s1(held.priority);
      e.add_s0(work(held, use, slot), held.priority);
    }
    nodes_[slot].order.became_better(datum, e);
  });
}

void ReadyIndex::lacks_one_more(DartsTask& held, std::uint32_t lost, Slot slot, DatumOnNode& e) {
  const std::uint32_t missing = held.on(slot).missing;
  if (missing > 3) return;
  if (missing == 1) return e.add_s0(work(held, lost, slot), held.priority);
  for_each_missing(held, slot, [&](DatumId datum, std::uint32_t use) {
    DatumOnNode& other = data_.known(datum, slot);
    if (use != lost) {
      if (missing == 2)
        other.remove_s0(work(held, use, slot), held.priority);
      else
        other.remove_s1(held.priority);
      LoadingOrder::became_worse(other);
    }
    if (missing == 2) other.add_s1(held.priority);
  });
  if (missing < 3) return;
  nodes_[slot].others.far_tasks_changed(+1);
  nodes_[slot].others.list(held, ready_);
}

// ---- data

void ReadyIndex::datum_arrived(DatumId datum, Slot slot) {
  DatumOnNode& e = data_.at(datum, slot);
  if (e.planned > 0) nodes_[slot].planned.lacked_changed();
  e.asked = e.resident = true;
  e.awaited = false;
  update_present(datum, slot);
}

void ReadyIndex::datum_left(DatumId datum, Slot slot, bool awaited) {
  DatumOnNode& e = data_.at(datum, slot);
  if (e.planned > 0) nodes_[slot].planned.lacked_changed();
  e.asked = true;
  e.resident = e.in_place;
  e.awaited = awaited && !e.in_place;
  update_present(datum, slot);
}

void ReadyIndex::set_awaited(DatumId datum, Slot slot, bool awaited) {
  DatumOnNode& e = data_.at(datum, slot);
  e.awaited = awaited && !e.resident;
  update_present(datum, slot);
}

void ReadyIndex::transfer_changed(DatumId datum, Slot except) {
  for (Slot slot = 0; slot < slots(); ++slot) {
    DatumOnNode& e = data_.at(datum, slot);
    if (slot == except) continue;
    e.transfer = DatumOnNode::unknown;
    e.standing.ratio_better = true;
    if (e.s0 > 0) nodes_[slot].order.became_better(datum, e);  // or worse
  }
}

void ReadyIndex::planned_users(DatumId datum, Slot slot, std::vector<DartsTask*>& out) {
  out.clear();
  if (data_.at(datum, slot).planned == 0) return;
  users_.for_each(
      datum, slot, [](std::uint32_t need) { return need == Need::planned; },
      [&](DartsTask& held, const DataUsers::Found&) { out.push_back(&held); });
  std::ranges::sort(out, released_before);
}

// ---- decisions

void ReadyIndex::s0(DatumId datum, Slot slot, std::vector<DartsTask*>& out) {
  out.clear();
  users_.for_each(
      datum, slot, [](std::uint32_t need) { return need == Need::alone; },
      [&](DartsTask& held, const DataUsers::Found&) { out.push_back(&held); });
  std::ranges::sort(out, released_before);
}

DartsTask* ReadyIndex::most_urgent_of_s1(DatumId datum, Slot slot) {
  DartsTask* best = nullptr;
  users_.for_each(
      datum, slot, [](std::uint32_t need) { return need == Need::one_more; },
      [&](DartsTask& held, const DataUsers::Found&) {
        if (best == nullptr || more_urgent(held, *best)) best = &held;
      });
  return best;
}

}  // namespace fairlead::schedule
