// The sums' upkeep; choosing by them is in ready_index_choice.cpp.
#include "schedule/darts/ready_index.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace fairlead::schedule::darts {
void ReadyIndex::attach(View& view) {
  view_ = &view;
  for (const NodeInfo& node : view.nodes()) nodes_.emplace_back().id = node.id;
  for (const WorkerInfo& worker : view.workers())
    for (Node& node : nodes_)
      if (node.id == worker.node) node.workers.push_back(worker.id);
  pool_.set_nodes(nodes_.size());
}

void ReadyIndex::grow(DatumId datum) {
  const std::size_t data = std::max(index(datum) + 1, users_.size() * 2);
  users_.resize(data);
  used_.resize(data, false);
  entries_.resize(data * nodes_.size());
}

// Data used in place are valid from the start and nobody tells of them: ask once.
void ReadyIndex::first_use(DatumId datum) {
  used_[index(datum)] = true;
  for (Slot slot = 0; slot < nodes_.size(); ++slot) {
    Entry& e = entry(datum, slot);
    if (e.asked) continue;
    e.asked = true;
    if (view_->residency(datum, nodes_[slot].id) == ReplicaState::absent) continue;
    e.in_place = e.resident = e.present = true;
  }
}

// ---- tasks

HeldTask& ReadyIndex::make(Task& task) {
  std::size_t inputs = 0;
  for (const Access& access : task.accesses()) inputs += reads(access.mode) ? 1 : 0;
  HeldTask& held = pool_.make(task, inputs);
  std::uint32_t use = 0;
  for (const Access& access : task.accesses()) {
    if (!reads(access.mode)) continue;
    entry(access.datum, 0);  // makes room
    if (!used_[index(access.datum)]) first_use(access.datum);
    auto& users = users_[index(access.datum)];
    held.uses[use] = {access.datum, static_cast<std::uint32_t>(users.size()) & 0x7fffffffu,
                      writes(access.mode) ? 1u : 0u};
    users.push_back({&held, use++});
  }
  for (Slot slot = 0; slot < nodes_.size(); ++slot) {
    const auto& workers = nodes_[slot].workers;
    const auto able = std::ranges::find_if(workers, [&](WorkerId w) { return view_->can_run(task, w); });
    if (able == workers.end())
      held.nodes[slot].missing = OnNode::unusable;
    else
      held.nodes[slot].work = std::max<std::int64_t>(1, view_->estimate(task, *able).count());
  }
  count_missing(held);
  return held;
}

void ReadyIndex::count_missing(HeldTask& held) {
  for (Slot slot = 0; slot < nodes_.size(); ++slot) {
    OnNode& on = held.nodes[slot];
    if (!on.usable()) continue;
    on.missing = 0;
    for (const Use& use : held.uses) on.missing += entry(use.datum, slot).present ? 0 : 1;
  }
}

void ReadyIndex::to_ready(HeldTask& held) {
  held.where = HeldTask::Where::ready;
  ready_.push_back(held);
  for (Slot slot = 0; slot < nodes_.size(); ++slot) {
    const OnNode& on = held.nodes[slot];
    if (!on.usable()) continue;
    for (const Use& use : held.uses) {
      Entry& e = entry(use.datum, slot);
      e.left += on.work;
      note(use.datum, slot, e);
    }
    count(held, slot, +1);
    list_if_free_or_far(held, slot);
  }
}

void ReadyIndex::to_aside(HeldTask& held) {
  held.where = HeldTask::Where::aside;
  aside_.push_back(held);
}

void ReadyIndex::to_planned(HeldTask& held, Slot slot) {
  held.where = HeldTask::Where::planned;
  held.planned_on = slot;
  nodes_[slot].planned.push_back(held);
  for (const Use& use : held.uses)
    if (entry(use.datum, slot).planned++ == 0) update_present(use.datum, slot);
}

void ReadyIndex::take_out(HeldTask& held, bool awaited) {
  if (held.where == HeldTask::Where::ready) {
    ready_.erase(held);
    held.where = HeldTask::Where::nowhere;
    for (Slot slot = 0; slot < nodes_.size(); ++slot) {
      const OnNode& on = held.nodes[slot];
      if (!on.usable()) continue;
      for (const Use& use : held.uses) {
        Entry& e = entry(use.datum, slot);
        e.left -= on.work;
        note(use.datum, slot, e);
      }
      count(held, slot, -1);
    }
  } else if (held.where == HeldTask::Where::aside) {
    aside_.erase(held);
    held.where = HeldTask::Where::nowhere;
  } else if (held.where == HeldTask::Where::planned) {
    const Slot slot = held.planned_on;
    nodes_[slot].planned.erase(held);
    held.where = HeldTask::Where::nowhere;
    held.planned_on = no_slot;
    for (const Use& use : held.uses) {
      Entry& e = entry(use.datum, slot);
      --e.planned;
      if (awaited && !e.resident) e.awaited = true;
      update_present(use.datum, slot);
    }
  }
}

void ReadyIndex::release(HeldTask& held) {
  for (const Use& use : held.uses) {
    auto& users = users_[index(use.datum)];
    const User last = users.back();
    last.held->uses[last.use].position = use.position;
    users[use.position] = last;
    users.pop_back();
  }
  pool_.release(held);
}

void ReadyIndex::worker_lost(WorkerId worker, Slot slot) {
  std::erase(nodes_[slot].workers, worker);
  std::vector<HeldTask*> all;
  for (HeldTask* held = ready_.front(); held != nullptr; held = held->next) all.push_back(held);
  const auto& left = nodes_[slot].workers;
  for (HeldTask* held : all) {
    if (std::ranges::any_of(left, [&](WorkerId w) { return view_->can_run(*held->task, w); })) continue;
    take_out(*held, false);
    held->nodes[slot].missing = OnNode::unusable;
    to_ready(*held);
  }
}

void ReadyIndex::set_bonus(HeldTask& held, std::int64_t bonus) {
  const bool counted = held.where == HeldTask::Where::ready;
  for (Slot slot = 0; counted && slot < nodes_.size(); ++slot) count(held, slot, -1);
  held.bonus = bonus;
  for (Slot slot = 0; counted && slot < nodes_.size(); ++slot) count(held, slot, +1);
}

// ---- the sums

void ReadyIndex::add_s0(Entry& e, const HeldTask& held, const Use& use, Slot slot, int sign) {
  e.work += sign * (held.nodes[slot].work + (use.updated ? held.bonus : 0));
  if (sign > 0)
    e.top0.add(held.priority, e.s0++ == 0);
  else if (--e.s0 > 0)
    e.top0.remove(held.priority);
}

void ReadyIndex::add_s1(Entry& e, const HeldTask& held, int sign) {
  if (sign > 0)
    e.top1.add(held.priority, e.s1++ == 0);
  else if (--e.s1 > 0)
    e.top1.remove(held.priority);
}

void ReadyIndex::count(HeldTask& held, Slot slot, int sign) {
  const std::uint32_t missing = held.nodes[slot].missing;
  if (missing == 0 || missing > 2) return;
  std::uint32_t found = 0;
  for (const Use& use : held.uses) {
    Entry& e = entry(use.datum, slot);
    if (e.present) continue;
    if (missing == 1)
      add_s0(e, held, use, slot, sign);
    else
      add_s1(e, held, sign);
    note(use.datum, slot, e);
    if (++found == missing) return;
  }
}

void ReadyIndex::list_if_free_or_far(HeldTask& held, Slot slot) {
  OnNode& on = held.nodes[slot];
  Node& node = nodes_[slot];
  if (on.missing == 0 && !on.listed_free) {
    on.listed_free = true;
    node.free.push_back({&held, held.order});
  } else if (on.missing > 2 && on.usable() && !on.listed_far) {
    on.listed_far = true;
    if (node.far.size() > 2 * ready_.size() + 64) {  // mostly of tasks that are gone
      std::erase_if(node.far, [](const Far& far) { return far.stale(); });
      std::ranges::make_heap(node.far, std::less<>{});
    }
    node.far.push_back({{&held, held.order}, held.priority});
    std::ranges::push_heap(node.far, std::less<>{});
  }
}

void ReadyIndex::update_present(DatumId datum, Slot slot) {
  Entry& e = entry(datum, slot);
  const bool now = e.resident || e.awaited || e.planned > 0;
  if (now == e.present) return;
  for (const User& user : users_[index(datum)]) {
    HeldTask& held = *user.held;
    OnNode& on = held.nodes[slot];
    if (held.where != HeldTask::Where::ready || !on.usable()) continue;
    e.present = !now;
    count(held, slot, -1);
    now ? --on.missing : ++on.missing;
    e.present = now;
    count(held, slot, +1);
    list_if_free_or_far(held, slot);
  }
  e.present = now;
  note(datum, slot, e);
}

// ---- data

void ReadyIndex::came(DatumId datum, Slot slot) {
  Entry& e = entry(datum, slot);
  e.asked = e.resident = true;
  e.awaited = false;
  update_present(datum, slot);
}

void ReadyIndex::went(DatumId datum, Slot slot, bool awaited) {
  Entry& e = entry(datum, slot);
  e.asked = true;
  e.resident = e.in_place;
  e.awaited = awaited && !e.in_place;
  update_present(datum, slot);
}

void ReadyIndex::set_awaited(DatumId datum, Slot slot, bool awaited) {
  Entry& e = entry(datum, slot);
  e.awaited = awaited && !e.resident;
  update_present(datum, slot);
}

void ReadyIndex::transfer_changed(DatumId datum, Slot except) {
  for (Slot slot = 0; slot < nodes_.size(); ++slot) {
    Entry& e = entry(datum, slot);
    if (slot != except && e.s0 > 0) note(datum, slot, e);
  }
}

void ReadyIndex::planned_users(DatumId datum, Slot slot, std::vector<HeldTask*>& out) {
  out.clear();
  if (entry(datum, slot).planned == 0) return;
  for (const User& user : users_[index(datum)])
    if (user.held->planned_on == slot) out.push_back(user.held);
  std::ranges::sort(out, released_before);
}

}  // namespace fairlead::schedule::darts
