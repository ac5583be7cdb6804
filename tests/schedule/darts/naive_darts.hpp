// Algorithm 3, literally: every decision computes every sum from all ready tasks, and reads the resident data
// from the view. Slow and simple, a reference for the incremental version.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "policy/policy.hpp"

namespace fairlead::schedule {

class NaiveDarts final : public Policy {
 public:
  Notifications interests() const override { return Notifications::progress | Notifications::residency; }
  void ready(Task& task, WorkerId) override {
    std::optional<std::size_t> best;
    for (std::size_t k = 0; k < planned_.size(); ++k)
      if (usable(task, k) && missing(task, k).empty() && (!best || queued(k) < queued(*best))) best = k;
    auto& list = best ? planned_[*best] : ready_;
    list.push_back({&task, ++order_});
  }
  void dropped(DatumId datum, NodeId node, DropReason) override {
    std::size_t k = 0;
    while (view().nodes()[k].id != node) ++k;
    if (picked_tasks_use(datum, k)) return;
    auto& planned = planned_[k];
    const auto undone = std::stable_partition(planned.begin(), planned.end(),
                                              [&](const Item& i) { return !uses(*i.task, datum); });
    ready_.insert(ready_.end(), undone, planned.end());
    planned.erase(undone, planned.end());
  }
  Task* pick(WorkerId worker, bool) override {
    std::size_t k = 0;
    while (view().nodes()[k].id != view().workers()[index(worker)].node) ++k;
    if (planned_[k].empty()) fill(k);
    if (planned_[k].empty()) return nullptr;
    Task* task = planned_[k].front().task;
    planned_[k].erase(planned_[k].begin());
    return task;
  }

 private:
  struct Item {
    Task* task;
    std::uint64_t order;
  };
  struct Sums {
    std::vector<Item> s0, s1;
    double work = 0, left = 0;
    int priority(const std::vector<Item>& tasks) const {
      int most = -1;
      for (const Item& i : tasks) most = std::max(most, i.task->priority);
      return most;
    }
  };

  void attached() override { planned_.resize(view().nodes().size()); }
  WorkerId worker_of(std::size_t k) const {
    for (const WorkerInfo& w : view().workers())
      if (w.node == view().nodes()[k].id) return w.id;
    return no_id<WorkerId>;
  }
  bool usable(const Task& task, std::size_t k) const { return view().can_run(task, worker_of(k)); }
  static bool uses(const Task& task, DatumId datum) {
    return std::ranges::any_of(task.accesses(),
                               [&](const Access& a) { return a.datum == datum && reads(a.mode); });
  }
  bool picked_tasks_use(DatumId datum, std::size_t k) const {
    std::vector<const Task*> pipeline;
    view().pipeline(view().nodes()[k].id, pipeline);
    return std::ranges::any_of(
        pipeline, [&](const Task* t) { return t->state == TaskState::picked && uses(*t, datum); });
  }
  std::size_t queued(std::size_t k) const {
    std::vector<const Task*> pipeline;
    view().pipeline(view().nodes()[k].id, pipeline);
    return planned_[k].size() + pipeline.size();
  }
  std::set<DatumId> missing(const Task& task, std::size_t k) const {
    std::set<DatumId> out;
    for (const Access& a : task.accesses()) {
      if (!reads(a.mode) || view().residency(a.datum, view().nodes()[k].id) != ReplicaState::absent) continue;
      if (picked_tasks_use(a.datum, k)) continue;
      if (std::ranges::any_of(planned_[k], [&](const Item& i) { return uses(*i.task, a.datum); })) continue;
      out.insert(a.datum);
    }
    return out;
  }
  static bool urgent(const Item& a, const Item& b) {
    return a.task->priority != b.task->priority ? a.task->priority > b.task->priority : a.order < b.order;
  }

  void fill(std::size_t k) {
    std::ranges::sort(ready_, {}, &Item::order);
    std::vector<Item> chosen;
    std::map<DatumId, Sums> sums;
    for (const Item& i : ready_) {
      if (!usable(*i.task, k)) continue;
      const auto lacks = missing(*i.task, k);
      if (lacks.empty()) chosen.push_back(i);
      const double work = static_cast<double>(view().estimate(*i.task, worker_of(k)).count());
      for (const DatumId d : lacks) {
        Sums& s = sums[d];
        s.left += work;
        if (lacks.size() == 1) s.work += work;
        if (lacks.size() == 1) s.s0.push_back(i);
        if (lacks.size() == 2) s.s1.push_back(i);
      }
    }
    if (chosen.empty()) {
      const std::pair<const DatumId, Sums>* best = nullptr;
      for (const auto& candidate : sums)
        if (!candidate.second.s0.empty() || !candidate.second.s1.empty())
          if (best == nullptr || better(candidate, *best, k)) best = &candidate;
      if (best != nullptr && !best->second.s0.empty())
        chosen = best->second.s0;
      else if (best != nullptr)
        chosen = {*std::ranges::min_element(best->second.s1, urgent)};
      else
        for (const Item& i : ready_)
          if (usable(*i.task, k) && (chosen.empty() || urgent(i, chosen.front()))) chosen = {i};
    }
    for (const Item& i : chosen) {
      std::erase_if(ready_, [&](const Item& r) { return r.task == i.task; });
      planned_[k].push_back(i);
    }
  }
  bool better(const std::pair<const DatumId, Sums>& a, const std::pair<const DatumId, Sums>& b,
              std::size_t k) {
    const auto key = [&](const std::pair<const DatumId, Sums>& c) {
      const Sums& s = c.second;
      const double transfer =
          static_cast<double>(view().transfer_time(c.first, view().nodes()[k].id).count());
      const double ratio = s.s0.empty() ? 1e300 : transfer / s.work;
      return std::tuple(ratio, -static_cast<int>(s.s0.size()), -s.priority(s.s0.empty() ? s.s1 : s.s0),
                        -static_cast<int>(s.s1.size()), -s.left, c.first);
    };
    return key(a) < key(b);
  }

  std::vector<Item> ready_;
  std::vector<std::vector<Item>> planned_;  // by node
  std::uint64_t order_ = 0;
};

}  // namespace fairlead::schedule
