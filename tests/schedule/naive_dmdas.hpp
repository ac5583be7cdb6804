// DMDAS as in its paper: Gonthier, Marchal, Thibault 2023, section 4.2, Algorithms 1 and 2. It keeps only the
// assigned, unfinished tasks, and scans them and calls the view for each decision. Slow and simple, a reference
// for the incremental version.
//
// Eq. 1 includes the term that it lacks, the time until the processing unit is free: the durations of its tasks,
// and the part of each task's transfers that remains when the tasks before it have finished. All durations
// are known.
#pragma once
#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <vector>

#include "policy/policy.hpp"

namespace fairlead::schedule {

class NaiveDmdas final : public Policy {
 public:
  /// `first_priority_only`: Algorithm 2 looks at the tasks of the highest priority alone.
  explicit NaiveDmdas(bool first_priority_only = false) : first_priority_only_(first_priority_only) {}

  Notifications interests() const override { return Notifications::progress | Notifications::residency; }
  void ready(Task& task, WorkerId) override { assign(task); }
  void returned(Task& task) override {
    forget(task);
    assign(task);
  }
  void cancelled(Task& task) override { forget(task); }
  void started(Task& task, WorkerId by) override {
    for (Assigned& one : assigned_)
      if (one.task == &task) {
        one.stage = Stage::runs;
        ends_[index(by)] = view().now() + one.computation;
      }
  }
  void finished(Task& task, WorkerId by, Duration) override {
    forget(task);
    ends_[index(by)] = view().now();
  }
  /// Its list is assigned again, the most urgent first.
  void worker_lost(WorkerId lost) override {
    lost_.insert(lost);
    for (const Assigned& one : list_of(lost)) {
      forget(*one.task);
      assign(*one.task);
    }
  }

  // Algorithm 2: the first task of the list that requires the lowest amount of data transfers.
  Task* pick(WorkerId k, bool) override {
    std::vector<Assigned> list = list_of(k);
    std::erase_if(list, [&](const Assigned& one) { return !view().can_run(*one.task, k); });
    if (list.empty()) return nullptr;
    if (first_priority_only_)
      std::erase_if(list, [first = list.front().task->priority](const Assigned& one) {
        return one.task->priority != first;
      });
    const auto transfers = [&](const Assigned& one) { return view().missing_bytes(*one.task, node_of(k)); };
    Task* const nearest = std::ranges::min_element(list, {}, transfers)->task;
    for (Assigned& one : assigned_)
      if (one.task == nearest) one.stage = Stage::picked;
    return nearest;
  }

 private:
  enum class Stage : std::uint8_t { waits, picked, runs };
  struct Assigned {
    Task* task;
    WorkerId to;
    Duration computation, added;  // as they were estimated when it was assigned
    Stage stage = Stage::waits;
  };

  void attached() override { ends_.resize(view().workers().size()); }

  // Algorithm 1: to the one with the smallest C(T, PU_k), of equal ones the first.
  void assign(Task& task) {
    Assigned best{&task, view().workers().front().id, {}, {}};
    Time earliest = Time::max();
    for (const WorkerInfo& k : view().workers()) {
      if (lost_.contains(k.id) || !view().can_run(task, k.id)) continue;
      const Duration computation = view().estimate(task, k.id), transfers = communication(task, k.node);
      const Time completion = available(k.id) + transfers + computation;
      if (completion >= earliest) continue;
      earliest = completion;
      const Duration remain = view().now() + transfers - available(k.id);
      best = {&task, k.id, computation, computation + std::max(Duration{}, remain)};
    }
    assigned_.push_back(best);
  }

  /// Eq. 1's sum over the data of the task that are not in memory(PU_k), to which line 8 adds what was
  /// assigned.
  Duration communication(const Task& task, NodeId k) const {
    Duration sum{};
    for (const Access& access : task.accesses())
      if (reads(access.mode) && !requested(access.datum, k)) sum += view().transfer_time(access.datum, k);
    return sum;
  }
  bool requested(DatumId datum, NodeId k) const {
    return std::ranges::any_of(assigned_, [&](const Assigned& one) {
      return node_of(one.to) == k && std::ranges::any_of(one.task->accesses(), [&](const Access& access) {
               return access.datum == datum && reads(access.mode);
             });
    });
  }

  /// When it has run all that was assigned to it.
  Time available(WorkerId k) const {
    Time time = std::max(view().now(), ends_[index(k)]);
    for (const Assigned& one : assigned_)
      if (one.to == k && one.stage != Stage::runs) time += one.added;
    return time;
  }

  /// Sorted by priority; of equal ones the first assigned first.
  std::vector<Assigned> list_of(WorkerId k) const {
    std::vector<Assigned> list;
    std::ranges::copy_if(assigned_, std::back_inserter(list),
                         [&](const Assigned& one) { return one.to == k && one.stage == Stage::waits; });
    std::ranges::stable_sort(list, std::greater<>{}, [](const Assigned& one) { return one.task->priority; });
    return list;
  }
  void forget(const Task& task) {
    std::erase_if(assigned_, [&](const Assigned& one) { return one.task == &task; });
  }
  NodeId node_of(WorkerId k) const { return view().workers()[index(k)].node; }

  bool first_priority_only_;
  std::vector<Assigned> assigned_;  // in the order in which they were; without finished tasks
  std::vector<Time> ends_;          // by worker: when the task that runs there ends, as far as is known
  std::set<WorkerId> lost_;
};

}  // namespace fairlead::schedule
