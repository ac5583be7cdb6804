// The sums' upkeep; choosing by them is in ready_index_choice.cpp.
#include "schedule/darts/ready_index.hpp"

#include <algorithm>
#include <functional>

namespace fairlead::schedule::darts {
void ReadyIndex::attach(View& view) {
  view_ = &view;
  for (const NodeInfo& node : view.nodes()) nodes_.emplace_back().id = node.id;
  for (const WorkerInfo& worker : view.workers())
    for (Node& node : nodes_)
      if (node.id == worker.node) node.workers.push_back(worker.id);
  slot_count_ = nodes_.size();
  pool_.set_nodes(nodes_.size());
}

void ReadyIndex::grow(DatumId datum) {
  const std::size_t data = std::max(index(datum) + 1, users_.size() * 2);
  users_.resize(data);
  used_.resize(data, false);
  entries_.resize(data * slot_count_);
  data_count_ = data;
}

// Data used in place are valid from the start and nobody tells of them: ask once.
void ReadyIndex::first_use(DatumId datum) {
  used_[index(datum)] = true;
  for (Slot slot = 0; slot < slot_count_; ++slot) {
    Entry& e = entry(datum, slot);
    if (e.asked) continue;
    e.asked = true;
    if (view_->residency(datum, nodes_[slot].id) == ReplicaState::absent) continue;
    e.in_place = e.resident = e.present = true;
  }
}

void ReadyIndex::forget(DatumId datum) {
  if (index(datum) >= data_count_) return;
  used_[index(datum)] = false;
  for (Slot slot = 0; slot < slot_count_; ++slot) {
    Entry& e = known_entry(datum, slot);
    e.asked = false;
    e.transfer = unknown;
    if (e.in_place) e.in_place = e.resident = e.present = false;
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
    held.uses()[use].datum = access.datum;
    held.uses()[use].updated = writes(access.mode);
    Users& users = users_[index(access.datum)];
    ++users.held;
    if (users.list.capacity() == 0) users.list.reserve(8);
    users.list.push_back({held.record, held.generation << 8 | std::min(use, many_uses)});
    ++use;
  }
  for (Slot slot = 0; slot < slot_count_; ++slot) {
    const auto& workers = nodes_[slot].workers;
    const auto able = std::ranges::find_if(workers, [&](WorkerId w) { return view_->can_run(task, w); });
    if (able == workers.end())
      held.on(slot).missing = OnNode::unusable;
    else
      held.on(slot).work = std::max<std::int64_t>(1, view_->estimate(task, *able).count());
  }
  count_missing(held);
  for (Node& node : nodes_)
    if (node.needs.size() < pool_.records()) node.needs.resize(pool_.records());
  note(held);
  return held;
}

void ReadyIndex::count_missing(HeldTask& held) {
  for (Slot slot = 0; slot < slot_count_; ++slot) {
    OnNode& on = held.on(slot);
    if (!on.usable()) continue;
    std::uint32_t missing = 0, lacks = 0, bit = 1;
    for (const Use& use : held.uses()) {
      if (!entry(use.datum, slot).present) {
        ++missing;
        lacks |= bit;
      }
      bit <<= 1;
    }
    on.missing = missing & OnNode::unusable;
    on.lacks = lacks;
  }
}

void ReadyIndex::to_ready(HeldTask& held) {
  held.where = HeldTask::Where::ready;
  ++ready_;
  for (Slot slot = 0; slot < slot_count_; ++slot) {
    const OnNode& on = held.on(slot);
    if (!on.usable()) continue;
    for (const Use& use : held.uses()) {
      Entry& e = known_entry(use.datum, slot);
      e.left += on.work;
      if (!e.present) became_better(use.datum, slot, e);
    }
    add(held, slot);
    nodes_[slot].far_tasks += on.missing > 2 ? 1 : 0;
    list_if_free_or_far(held, slot);
    note(held, slot);
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
  note(held, slot);
  for (const Use& use : held.uses()) {
    Entry& e = known_entry(use.datum, slot);
    if (!e.resident) ++nodes_[slot].planned_lacks_version;
    if (e.planned++ == 0) update_present(use.datum, slot);
  }
}

void ReadyIndex::take_out(HeldTask& held, bool awaited) {
  if (held.where == HeldTask::Where::ready) {
    --ready_;
    held.where = HeldTask::Where::nowhere;
    note(held);
    for (Slot slot = 0; slot < slot_count_; ++slot) {
      const OnNode& on = held.on(slot);
      if (!on.usable()) continue;
      for (const Use& use : held.uses()) {
        Entry& e = known_entry(use.datum, slot);
        e.left -= on.work;
        became_worse(e);
      }
      subtract(held, slot);
      nodes_[slot].far_tasks -= on.missing > 2 ? 1 : 0;
    }
  } else if (held.where == HeldTask::Where::aside) {
    aside_.erase(held);
    held.where = HeldTask::Where::nowhere;
  } else if (held.where == HeldTask::Where::planned) {
    const Slot slot = held.planned_on;
    nodes_[slot].planned.erase(held);
    held.where = HeldTask::Where::nowhere;
    held.planned_on = no_slot;
    note(held, slot);
    for (const Use& use : held.uses()) {
      Entry& e = known_entry(use.datum, slot);
      --e.planned;
      if (!e.resident) {
        ++nodes_[slot].planned_lacks_version;
        if (awaited) e.awaited = true;
      }
      update_present(use.datum, slot);
    }
  }
}

// Its data's users forget it when they are looked at next, or when most are gone.
void ReadyIndex::release(HeldTask& held) {
  pool_.release(held);
  note(held);
  for (const Use& use : held.uses()) {
    Users& users = users_[index(use.datum)];
    --users.held;
    if (users.list.size() > 2 * users.held + 16)
      std::erase_if(users.list, [&](const User& user) {
        return (nodes_.front().needs[user.record] ^ user.generation_and_use) >= 256;
      });
  }
}

void ReadyIndex::worker_lost(WorkerId worker, Slot slot) {
  std::erase(nodes_[slot].workers, worker);
  std::vector<HeldTask*> all;
  pool_.for_each([&](HeldTask& held) {
    if (held.where == HeldTask::Where::ready) all.push_back(&held);
  });
  std::ranges::sort(all, released_before);
  const auto& left = nodes_[slot].workers;
  for (HeldTask* held : all) {
    if (std::ranges::any_of(left, [&](WorkerId w) { return view_->can_run(*held->task, w); })) continue;
    take_out(*held, false);
    held->on(slot).missing = OnNode::unusable;
    to_ready(*held);
  }
}

void ReadyIndex::set_bonus(HeldTask& held, std::int64_t bonus) {
  const bool counted = held.where == HeldTask::Where::ready;
  for (Slot slot = 0; counted && slot < slot_count_; ++slot) subtract(held, slot);
  held.bonus = bonus;
  held.has_bonus = bonus != 0;
  for (Slot slot = 0; counted && slot < slot_count_; ++slot) add(held, slot);
}

// ---- the sums

void ReadyIndex::add(HeldTask& held, Slot slot) {
  const std::uint32_t missing = held.on(slot).missing;
  if (missing == 0 || missing > 2) return;
  for_each_missing(held, slot, [&](DatumId datum, std::uint32_t use) {
    Entry& e = known_entry(datum, slot);
    if (missing == 1)
      add_s0(e, held, use, slot);
    else
      add_s1(e, held.priority);
    became_better(datum, slot, e);
  });
}

void ReadyIndex::subtract(HeldTask& held, Slot slot) {
  const std::uint32_t missing = held.on(slot).missing;
  if (missing == 0 || missing > 2) return;
  for_each_missing(held, slot, [&](DatumId datum, std::uint32_t use) {
    Entry& e = known_entry(datum, slot);
    if (missing == 1)
      remove_s0(e, held, use, slot);
    else
      remove_s1(e, held.priority);
    became_worse(e);
  });
}

void ReadyIndex::list_if_free_or_far(HeldTask& held, Slot slot) {
  OnNode& on = held.on(slot);
  Node& node = nodes_[slot];
  if (on.missing == 0 && !on.listed_free) {
    on.listed_free = true;
    node.free.push_back({&held, held.generation});
  } else if (on.missing > 2 && on.usable() && !on.listed_far) {
    on.listed_far = true;
    node.new_far.push_back({{&held, held.generation}, held.priority, held.order});
    if (node.new_far.size() + node.far.size() > 2 * ready_ + 64) purge_far(slot);
  }
}

/// Forgets what is no longer far, so that references to the others are no more than twice as many as they
/// are.
void ReadyIndex::purge_far(Slot slot) {
  Node& node = nodes_[slot];
  node.far.insert(node.far.end(), node.new_far.begin(), node.new_far.end());
  node.new_far.clear();
  std::erase_if(node.far, [&](const Far& far) {
    if (is_far(far, slot)) return false;
    if (!far.stale()) far.held->on(slot).listed_far = false;
    return true;
  });
  std::ranges::make_heap(node.far, std::less<>{});
}

void ReadyIndex::update_present(DatumId datum, Slot slot) {
  Entry& e = known_entry(datum, slot);
  const bool now = e.resident || e.awaited || e.planned > 0;
  if (now == e.present) return;
  e.present = now;
  if (now)
    for_each_user(datum, slot, Need::ready, [&](HeldTask& held, const Found& found) {
      OnNode& on = held.on(slot);
      on.missing = (on.missing - 1) & OnNode::unusable;
      if (held.few_uses()) on.lacks ^= 1u << found.use;
      note(held, found.record, slot);
      lacks_one_less(held, slot);
    });
  else
    for_each_user(datum, slot, Need::ready, [&](HeldTask& held, const Found& found) {
      OnNode& on = held.on(slot);
      on.missing = (on.missing + 1) & OnNode::unusable;
      if (held.few_uses()) on.lacks ^= 1u << found.use;
      note(held, found.record, slot);
      lacks_one_more(held, use_of(datum, held, found), slot, e);
    });
  if (now) {
    e.s0 = e.s1 = 0;
    e.work = 0;
    became_worse(e);
  } else {
    e.ratio_better = true;
    became_better(datum, slot, e);
  }
}

// The sums of the datum that came are all zero afterwards: only those of the others are changed here.
void ReadyIndex::lacks_one_less(HeldTask& held, Slot slot) {
  OnNode& on = held.on(slot);
  if (on.missing > 2) return;
  if (on.missing == 2) {
    --nodes_[slot].far_tasks;
    for_each_missing(held, slot, [&](DatumId datum, std::uint32_t) {
      Entry& e = known_entry(datum, slot);
      add_s1(e, held.priority);
      became_better(datum, slot, e);
    });
  } else if (on.missing == 1) {
    for_each_missing(held, slot, [&](DatumId datum, std::uint32_t use) {
      Entry& e = known_entry(datum, slot);
      remove_s1(e, held.priority);
      add_s0(e, held, use, slot);
      became_better(datum, slot, e);
    });
  } else {
    list_if_free_or_far(held, slot);
  }
}

void ReadyIndex::lacks_one_more(HeldTask& held, std::uint32_t lost, Slot slot, Entry& e) {
  OnNode& on = held.on(slot);
  if (on.missing == 1) {
    add_s0(e, held, lost, slot);
  } else if (on.missing == 2) {
    for_each_missing(held, slot, [&](DatumId datum, std::uint32_t use) {
      Entry& other = known_entry(datum, slot);
      if (use != lost) {
        remove_s0(other, held, use, slot);
        became_worse(other);
      }
      add_s1(other, held.priority);
    });
  } else if (on.missing == 3) {
    ++nodes_[slot].far_tasks;
    for_each_missing(held, slot, [&](DatumId datum, std::uint32_t use) {
      Entry& other = known_entry(datum, slot);
      if (use == lost) return;
      remove_s1(other, held.priority);
      became_worse(other);
    });
    list_if_free_or_far(held, slot);
  }
}

// ---- data

void ReadyIndex::came(DatumId datum, Slot slot) {
  Entry& e = entry(datum, slot);
  if (e.planned > 0) ++nodes_[slot].planned_lacks_version;
  e.asked = e.resident = true;
  e.awaited = false;
  update_present(datum, slot);
}

void ReadyIndex::went(DatumId datum, Slot slot, bool awaited) {
  Entry& e = entry(datum, slot);
  if (e.planned > 0) ++nodes_[slot].planned_lacks_version;
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
  for (Slot slot = 0; slot < slot_count_; ++slot) {
    Entry& e = entry(datum, slot);
    if (slot == except) continue;
    e.transfer = unknown;
    e.ratio_better = true;
    if (e.s0 > 0) became_better(datum, slot, e);  // or worse
  }
}

void ReadyIndex::planned_users(DatumId datum, Slot slot, std::vector<HeldTask*>& out) {
  out.clear();
  if (entry(datum, slot).planned == 0) return;
  for_each_user(
      datum, slot, [](std::uint32_t need) { return need == Need::planned; },
      [&](HeldTask& held, const Found&) { out.push_back(&held); });
  std::ranges::sort(out, released_before);
}

}  // namespace fairlead::schedule::darts
