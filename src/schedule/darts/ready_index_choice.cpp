// Choosing what to load by the sums of the index.
#include <algorithm>
#include <functional>
#include <utility>

#include "schedule/darts/ready_index.hpp"

namespace fairlead::schedule::darts {
namespace {
constexpr std::size_t most_expected = 64;  // users of a datum that are fetched ahead
constexpr std::size_t few_records = 8192;  // a second-level cache holds them: nothing to fetch
}  // namespace

void ReadyIndex::take_free(Slot slot, std::vector<HeldTask*>& out) {
  out.clear();
  for (const HeldRef& ref : nodes_[slot].free) {
    if (ref.stale()) continue;
    ref.held->on(slot).listed_free = false;
    if (ref.held->where == HeldTask::Where::ready && ref.held->on(slot).missing == 0) out.push_back(ref.held);
  }
  nodes_[slot].free.clear();
  std::ranges::sort(out, released_before);
}

Worth ReadyIndex::worth(DatumId datum, Slot slot) {
  Entry& e = known_entry(datum, slot);
  if (e.s0 > 0 && e.transfer == unknown) e.transfer = view_->transfer_time(datum, nodes_[slot].id).count();
  Worth worth;
  worth.datum = datum;
  worth.transfer = e.s0 > 0 ? e.transfer : 0;
  worth.work = e.work;
  worth.left = e.left;
  worth.priority = e.s0 > 0 ? e.top0.value : e.top1.value;
  worth.s0 = e.s0;
  worth.s1 = e.s1;
  worth.rate();
  return worth;
}

// Whatever enables a task alone is better than what does not, so the others can wait.
const Worth* ReadyIndex::best(Slot slot) {
  repair_s0(slot);
  if (const Worth* worth = top_s0(slot); worth != nullptr) return worth;
  repair_s1(slot);
  return top_s1(slot);
}

void ReadyIndex::repair_s0(Slot slot) {
  constexpr std::size_t ahead = 8;
  const std::vector<DatumId>& better = nodes_[slot].better;
  for (std::size_t i = 0; i < better.size(); ++i) {
    if (i + ahead < better.size()) {
      __builtin_prefetch(&known_entry(better[i + ahead], slot));
      nodes_[slot].by_s0.fetch(better[i + ahead]);
    }
    const DatumId datum = better[i];
    Entry& e = known_entry(datum, slot);
    e.listed = false;
    if (!e.by_s0.in && e.s0 == 0)
      list_s1(datum, e, nodes_[slot]);
    else if (!e.by_s0.in || e.ratio_better)
      replace_s0(datum, slot, e);
    else if (!std::exchange(e.raised, true))
      nodes_[slot].raised.push_back(datum);
  }
  nodes_[slot].better.clear();
}

void ReadyIndex::raise(Slot slot) {
  for (const DatumId datum : nodes_[slot].raised) {
    Entry& e = known_entry(datum, slot);
    e.raised = false;
    if (e.by_s0.in) nodes_[slot].by_s0.raise(datum, e.s1, e.left);
  }
  nodes_[slot].raised.clear();
}

void ReadyIndex::replace_s0(DatumId datum, Slot slot, Entry& e) {
  Node& node = nodes_[slot];
  e.by_s0.worse = e.ratio_better = false;
  e.by_s0.in = !e.present && e.s0 > 0;
  if (e.by_s0.in)
    node.by_s0.put(worth(datum, slot));
  else
    node.by_s0.erase(datum);
  if (!e.by_s0.in || e.by_s1.in) list_s1(datum, e, node);
}

void ReadyIndex::repair_s1(Slot slot) {
  for (const DatumId datum : nodes_[slot].better_by_s1) {
    Entry& e = known_entry(datum, slot);
    e.listed_by_s1 = false;
    replace_s1(datum, slot, e);
  }
  nodes_[slot].better_by_s1.clear();
}

void ReadyIndex::replace_s1(DatumId datum, Slot slot, Entry& e) {
  e.by_s1.worse = false;
  e.by_s1.in = !e.present && e.s0 == 0 && e.s1 > 0;
  if (e.by_s1.in)
    nodes_[slot].by_s1.put(worth(datum, slot));
  else
    nodes_[slot].by_s1.erase(datum);
}

// A priority that is only an upper bound is counted anew when it gets to the top, not before; and not at all
// if it changes nothing. Likewise |S1| and work left of the others count only where all before them is equal.
const Worth* ReadyIndex::top_s0(Slot slot) {
  DatumHeap& heap = nodes_[slot].by_s0;
  while (!heap.empty()) {
    const DatumId datum = heap.top().datum;
    Entry& e = known_entry(datum, slot);
    if (e.by_s0.worse) {
      replace_s0(datum, slot, e);
    } else if (heap.top_is_best_by_ratio()) {
      return &heap.top();
    } else if (e.top0.holders > 0) {
      if (nodes_[slot].raised.empty() || heap.top_is_best_by_priority()) return &heap.top();
      raise(slot);
    } else {
      recount_priority(datum, slot);
      heap.put(worth(datum, slot));
    }
  }
  return nullptr;
}

const Worth* ReadyIndex::top_s1(Slot slot) {
  DatumHeap& heap = nodes_[slot].by_s1;
  while (!heap.empty()) {
    const DatumId datum = heap.top().datum;
    Entry& e = known_entry(datum, slot);
    if (e.by_s1.worse) {
      replace_s1(datum, slot, e);
    } else if (e.top1.holders > 0) {
      return &heap.top();
    } else {
      recount_priority(datum, slot);
      heap.put(worth(datum, slot));
    }
  }
  return nullptr;
}

void ReadyIndex::recount_priority(DatumId datum, Slot slot) {
  Entry& e = known_entry(datum, slot);
  const std::uint32_t wanted = e.s0 > 0 ? Need::alone : Need::one_more;
  TopPriority& top = e.s0 > 0 ? e.top0 : e.top1;
  bool first = true;
  for_each_user(
      datum, slot, [&](std::uint32_t need) { return need == wanted; },
      [&](HeldTask& held, const Found&) { top.add(held.priority, std::exchange(first, false)); });
}

void ReadyIndex::enabled(DatumId datum, Slot slot, std::vector<HeldTask*>& out) {
  out.clear();
  // The records of the others will be needed when the datum comes.
  for_each_user(datum, slot, Need::ready, [&](HeldTask& held, const Found& found) {
    if (found.need == Need::alone) out.push_back(&held);
  });
  std::ranges::sort(out, released_before);
}

HeldTask* ReadyIndex::best_with_one_more(DatumId datum, Slot slot) {
  HeldTask* best = nullptr;
  for_each_user(
      datum, slot, [](std::uint32_t need) { return need == Need::one_more; },
      [&](HeldTask& held, const Found&) {
        if (best == nullptr || more_urgent(held, *best)) best = &held;
      });
  return best;
}

void ReadyIndex::expect(DatumId datum) {
  if (index(datum) >= data_count_ || pool_.records() < few_records) return;
  __builtin_prefetch(&users_[index(datum)]);
  expected_.push_back(datum);
}

void ReadyIndex::fetch_lists() {
  constexpr std::size_t per_cache_line = 64 / sizeof(User);
  for (const DatumId datum : expected_) {
    const std::vector<User>& list = users_[index(datum)].list;
    for (std::size_t i = 0; i < std::min(most_expected, list.size()); i += per_cache_line)
      __builtin_prefetch(list.data() + i);
    listed_.push_back(datum);
  }
  expected_.clear();
}

void ReadyIndex::expect_next_best(Slot slot) {
  if (pool_.records() < few_records) return;
  const Worth* second = nodes_[slot].by_s0.second();
  DatumId likely = second != nullptr ? second->datum : no_id<DatumId>;
  std::int64_t most_work = second != nullptr ? second->work : 0;
  for (const DatumId datum : nodes_[slot].better) {
    const Entry& e = known_entry(datum, slot);
    if (e.present || e.s0 == 0 || e.work <= most_work) continue;
    likely = datum;
    most_work = e.work;
  }
  if (likely != no_id<DatumId>) expect(likely);
}

void ReadyIndex::fetch_records(Slot slot) {
  const std::uint32_t* const needs = nodes_[slot].needs.data();
  for (const DatumId datum : listed_) {
    const std::vector<User>& list = users_[index(datum)].list;
    for (std::size_t i = 0; i < std::min(most_expected, list.size()); ++i) {
      const bool matters = Need::ready(needs[list[i].record] ^ list[i].generation_and_use ^ list[i].use());
      const std::uint32_t* record = &pool_.at(list[i].record).generation;
      __builtin_prefetch(matters ? record : needs);
    }
  }
  listed_.clear();
}

HeldTask* ReadyIndex::best_far(Slot slot) {
  Node& node = nodes_[slot];
  if (node.far_tasks == 0) return nullptr;
  if (node.far.size() + node.new_far.size() > 2 * node.far_tasks + 64) purge_far(slot);
  for (const Far& far : node.new_far) {
    node.far.push_back(far);
    std::ranges::push_heap(node.far, std::less<>{});
  }
  node.new_far.clear();
  while (!node.far.empty()) {
    const Far far = node.far.front();
    if (is_far(far, slot)) return far.held;
    if (!far.stale()) far.held->on(slot).listed_far = false;
    std::ranges::pop_heap(node.far, std::less<>{});
    node.far.pop_back();
  }
  return nullptr;
}

}  // namespace fairlead::schedule::darts
