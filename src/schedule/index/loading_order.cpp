// Repairs the order of the data, and finds the best datum.
#include "schedule/index/loading_order.hpp"

namespace fairlead::schedule {

LoadPriority LoadingOrder::worth(DatumId datum) {
  DatumOnNode& e = known(datum);
  if (e.s0 > 0 && e.transfer == DatumOnNode::unknown) e.transfer = view_->transfer_time(datum, node_).count();
  LoadPriority worth;
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

// A datum that enables a task by itself is better than any other, so the others are not examined.
const LoadPriority* LoadingOrder::best() {
  repair_s0();
  if (const LoadPriority* worth = top_s0(); worth != nullptr) return worth;
  repair_s1();
  return top_s1();
}

void LoadingOrder::repair_s0() {
  for (const DatumId datum : better_) {
    DatumOnNode& e = known(datum);
    e.standing.in_improved_list = false;
    if (!e.standing.in_s0 && e.s0 == 0)
      list_s1(datum, e);
    else if (!e.standing.in_s0 || e.standing.ratio_better)
      replace_s0(datum, e);
    else if (!std::exchange(e.standing.underestimated, true))
      raised_.push_back(datum);
  }
  better_.clear();
}

void LoadingOrder::raise() {
  for (const DatumId datum : raised_) {
    DatumOnNode& e = known(datum);
    e.standing.underestimated = false;
    if (e.standing.in_s0) by_s0_.raise(datum, e.s1, e.left);
  }
  raised_.clear();
}

void LoadingOrder::replace_s0(DatumId datum, DatumOnNode& e) {
  e.standing.stale_s0 = e.standing.ratio_better = false;
  e.standing.in_s0 = !e.present && e.s0 > 0;
  if (e.standing.in_s0)
    by_s0_.put(worth(datum));
  else
    by_s0_.erase(datum);
  if (!e.standing.in_s0 || e.standing.in_s1) list_s1(datum, e);
}

void LoadingOrder::repair_s1() {
  for (const DatumId datum : better_s1_) {
    DatumOnNode& e = known(datum);
    e.standing.listed_s1 = false;
    replace_s1(datum, e);
  }
  better_s1_.clear();
}

void LoadingOrder::replace_s1(DatumId datum, DatumOnNode& e) {
  e.standing.worse_s1 = false;
  e.standing.in_s1 = !e.present && e.s0 == 0 && e.s1 > 0;
  if (e.standing.in_s1)
    by_s1_.put(worth(datum));
  else
    by_s1_.erase(datum);
}

// A priority that is only an upper bound is recounted only when its datum reaches the top and the exact value matters.
// Likewise |S1| and the remaining work of others are compared only if all criteria before them are equal.
const LoadPriority* LoadingOrder::top_s0() {
  while (!by_s0_.empty()) {
    const DatumId datum = by_s0_.top().datum;
    DatumOnNode& e = known(datum);
    if (e.standing.stale_s0) {
      replace_s0(datum, e);
    } else if (by_s0_.is_top_best_by_ratio()) {
      return &by_s0_.top();
    } else if (e.top0.holders > 0) {
      if (raised_.empty() || by_s0_.top_is_best_by_priority()) return &by_s0_.top();
      raise();
    } else {
      recount_priority(datum, e);
      by_s0_.put(worth(datum));
    }
  }
  return nullptr;
}

const LoadPriority* LoadingOrder::top_s1() {
  while (!by_s1_.empty()) {
    const DatumId datum = by_s1_.top().datum;
    DatumOnNode& e = known(datum);
    if (e.standing.worse_s1) {
      replace_s1(datum, e);
    } else if (e.top1.holders > 0) {
      return &by_s1_.top();
    } else {
      recount_priority(datum, e);
      by_s1_.put(worth(datum));
    }
  }
  return nullptr;
}

void LoadingOrder::recount_priority(DatumId datum, DatumOnNode& e) {
  using Need = DataUsers::LackState;
  const std::uint32_t wanted = e.s0 > 0 ? Need::alone : Need::one_more;
  TopPriority& top = e.s0 > 0 ? e.top0 : e.top1;
  bool first = true;
  users_->for_each(
      datum, slot_, [&](std::uint32_t need) { return need == wanted; },
      [&](DartsTask& held, const DataUsers::Found&) { top.add(held.priority, std::exchange(first, false)); });
}

}  // namespace fairlead::schedule
