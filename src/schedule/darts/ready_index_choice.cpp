// Choosing what to load by the sums of the index.
#include <algorithm>
#include <functional>
#include <utility>

#include "schedule/darts/ready_index.hpp"

namespace fairlead::schedule::darts {

void ReadyIndex::take_free(Slot slot, std::vector<HeldTask*>& out) {
  out.clear();
  for (const HeldRef& ref : nodes_[slot].free) {
    if (ref.stale()) continue;
    ref.held->nodes[slot].listed_free = false;
    if (ref.held->where == HeldTask::Where::ready && ref.held->nodes[slot].missing == 0)
      out.push_back(ref.held);
  }
  nodes_[slot].free.clear();
  std::ranges::sort(out, released_before);
}

Worth ReadyIndex::worth(DatumId datum, Slot slot) {
  const Entry& e = entry(datum, slot);
  Worth worth;
  worth.datum = datum;
  if (e.s0 > 0) worth.transfer = view_->transfer_time(datum, nodes_[slot].id).count();
  worth.work = e.work;
  worth.left = e.left;
  worth.priority = e.s0 > 0 ? e.top0.value : e.top1.value;
  worth.s0 = e.s0;
  worth.s1 = e.s1;
  return worth;
}

// Whatever enables a task alone is better than what does not, so the others can wait.
const Worth* ReadyIndex::best(Slot slot) {
  Node& node = nodes_[slot];
  repair_s0(slot);
  if (const Worth* worth = top(node.by_s0, slot, &Entry::top0); worth != nullptr) return worth;
  repair_s1(slot);
  return top(node.by_s1, slot, &Entry::top1);
}

void ReadyIndex::repair_s0(Slot slot) {
  Node& node = nodes_[slot];
  for (const DatumId datum : node.by_s0.changed) {
    Entry& e = entry(datum, slot);
    e.by_s0 = {!e.present && e.s0 > 0, false};
    if (e.by_s0.in)
      node.by_s0.heap.put(worth(datum, slot));
    else
      node.by_s0.heap.erase(datum);
    list(datum, e.by_s1, node.by_s1);
  }
  node.by_s0.changed.clear();
}

void ReadyIndex::repair_s1(Slot slot) {
  Node& node = nodes_[slot];
  for (const DatumId datum : node.by_s1.changed) {
    Entry& e = entry(datum, slot);
    e.by_s1 = {!e.present && e.s0 == 0 && e.s1 > 0, false};
    if (e.by_s1.in)
      node.by_s1.heap.put(worth(datum, slot));
    else
      node.by_s1.heap.erase(datum);
  }
  node.by_s1.changed.clear();
}

// A priority that is only an upper bound is counted anew when it gets to the top, not before.
const Worth* ReadyIndex::top(Order& order, Slot slot, TopPriority Entry::*priority) {
  while (!order.heap.empty()) {
    const DatumId datum = order.heap.top().datum;
    if ((entry(datum, slot).*priority).holders > 0) return &order.heap.top();
    recount_priority(datum, slot);
    order.heap.put(worth(datum, slot));
  }
  return nullptr;
}

void ReadyIndex::recount_priority(DatumId datum, Slot slot) {
  Entry& e = entry(datum, slot);
  const std::uint32_t wanted = e.s0 > 0 ? 1 : 2;
  TopPriority& top = e.s0 > 0 ? e.top0 : e.top1;
  bool first = true;
  for (const User& user : users_[index(datum)])
    if (user.held->where == HeldTask::Where::ready && user.held->nodes[slot].missing == wanted)
      top.add(user.held->priority, std::exchange(first, false));
}

void ReadyIndex::enabled(DatumId datum, Slot slot, std::vector<HeldTask*>& out) {
  out.clear();
  for (const User& user : users_[index(datum)])
    if (user.held->where == HeldTask::Where::ready && user.held->nodes[slot].missing == 1)
      out.push_back(user.held);
  std::ranges::sort(out, released_before);
}

HeldTask* ReadyIndex::best_with_one_more(DatumId datum, Slot slot) {
  HeldTask* best = nullptr;
  for (const User& user : users_[index(datum)])
    if (user.held->where == HeldTask::Where::ready && user.held->nodes[slot].missing == 2 &&
        (best == nullptr || more_urgent(*user.held, *best)))
      best = user.held;
  return best;
}

HeldTask* ReadyIndex::best_far(Slot slot) {
  auto& far = nodes_[slot].far;
  while (!far.empty()) {
    const Far ref = far.front();
    if (!ref.stale() && ref.held->where == HeldTask::Where::ready && ref.held->nodes[slot].missing > 2)
      return ref.held;
    if (!ref.stale()) ref.held->nodes[slot].listed_far = false;
    std::ranges::pop_heap(far, std::less<>{});
    far.pop_back();
  }
  return nullptr;
}

}  // namespace fairlead::schedule::darts
