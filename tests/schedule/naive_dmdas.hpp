// DMDAS as Algorithms 1 and 2 read: at every pick all tasks of the worker's queue are asked what they miss.
// Slow and simple, to compare the one that keeps count with. Leaves Task::policy_data to others.
#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "policy/policy.hpp"
#include "schedule/urgency_queue.hpp"

namespace fairlead::schedule {

struct NaivelyAssigned {
  Task* task = nullptr;
  WorkerId worker{};
  Duration duration{};  // of the body there
  Duration charge{};    // that and the transfers: by how much it moved the worker's end
  bool started = false;
};

class NaiveDmdas final : public Policy {
 public:
  /// `first_priority_only`: Ready among the tasks of the highest priority alone.
  explicit NaiveDmdas(bool first_priority_only = false) : first_priority_only_(first_priority_only) {}

  Interest interests() const override { return Interest::progress; }

  void ready(Task& task, WorkerId) override {
    NaivelyAssigned& assigned = make(task);
    held_[&task] = &assigned;
    assign(assigned);
  }
  void returned(Task& task) override {
    forget_picked(task);
    ready(task, no_id<WorkerId>);
  }
  void cancelled(Task& task) override { forget_picked(task); }

  void started(Task& task, WorkerId) override {
    NaivelyAssigned* assigned = find_picked(task);
    if (assigned == nullptr) return;
    Worker& worker = workers_[index(assigned->worker)];
    assigned->started = true;
    worker.queued -= assigned->charge;
    worker.busy_until = view().now() + assigned->duration;
  }
  void finished(Task& task, WorkerId worker, Duration) override {
    forget_picked(task);
    workers_[index(worker)].busy_until = view().now();
  }

  // Its tasks find other workers.
  void worker_lost(WorkerId lost) override {
    Worker& worker = workers_[index(lost)];
    worker.lost = true;
    while (Task* task = worker.queue.take_first([](const Task&) { return true; })) {
      NaivelyAssigned& assigned = *held_.at(task);
      unassign(assigned);
      assign(assigned);
    }
  }

  Task* pick(WorkerId worker, bool) override {
    UrgencyQueue& queue = workers_[index(worker)].queue;
    Task* task = take_nearest(queue, view().workers()[index(worker)].node, worker);
    return task == nullptr ? nullptr : give_out(*task, worker);
  }
  Task* take_any(WorkerId thief) override {
    for (Worker& victim : workers_)
      if (Task* task = victim.queue.take_first([&](const Task& it) { return view().can_run(it, thief); }))
        return give_out(*task, thief);
    return nullptr;
  }

  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    std::size_t written = 0;
    workers_[index(worker)].queue.for_each_while([&](const Task& task) {
      for (const Access& access : task.accesses()) {
        if (written == out.size()) return false;
        if (reads(access.mode)) out[written++] = access.datum;
      }
      return true;
    });
    return written;
  }

 private:
  struct Worker {
    UrgencyQueue queue;                    // assigned, not picked
    std::vector<NaivelyAssigned*> picked;  // not finished
    std::size_t node = 0;                  // position in nodes_
    Time busy_until{};                     // the task that runs ends then, as far as is known
    Duration queued{};                     // charges of those that have not started
    bool lost = false;
  };
  struct Node {
    NodeId id{};
    std::vector<std::uint32_t> awaited;  // by datum: unfinished tasks assigned here that read it
    Duration transfers{};                // scratch of assign()
  };

  void attached() override {
    for (const NodeInfo& info : view().nodes()) nodes_.emplace_back().id = info.id;
    workers_ = std::vector<Worker>(view().workers().size());
    for (const WorkerInfo& info : view().workers())
      workers_[index(info.id)].node =
          static_cast<std::size_t>(std::ranges::find(nodes_, info.node, &Node::id) - nodes_.begin());
  }

  // ---- Algorithm 1

  void assign(NaivelyAssigned& assigned) {
    const Task& task = *assigned.task;
    for (Node& node : nodes_) node.transfers = missing_transfers(task, node);
    NaivelyAssigned best;
    Time earliest{};
    bool found = false;
    const std::optional<WorkerId> trial = worker_to_try(task);
    for (const WorkerInfo& info : view().workers()) {
      const Worker& worker = workers_[index(info.id)];
      if (worker.lost || !view().can_run(task, info.id) || (trial.has_value() && *trial != info.id)) continue;
      const Duration duration = duration_on(task, info.id);
      const Duration charge = nodes_[worker.node].transfers + duration;
      const Time completion = std::max(view().now(), worker.busy_until) + worker.queued + charge;
      if (found && completion >= earliest) continue;
      found = true;
      earliest = completion;
      best = {assigned.task, info.id, duration, charge, false};
    }
    // Nobody left can run it: kept where somebody who comes back would look.
    if (!found) best = {assigned.task, WorkerId{}, {}, {}, false};
    assigned = best;
    Worker& worker = workers_[index(assigned.worker)];
    worker.queued += assigned.charge;
    count_awaited(assigned, +1);
    worker.queue.insert(assigned.task, task.priority);
  }

  /// Where nobody knows yet how long the task takes, the worker with the fewest tasks; none if all of those
  /// have enough to learn from.
  std::optional<WorkerId> worker_to_try(const Task& task) const {
    std::optional<WorkerId> best;
    std::size_t fewest = enough_trials;
    for (const WorkerInfo& info : view().workers()) {
      const Worker& worker = workers_[index(info.id)];
      const std::size_t tasks = worker.queue.size() + worker.picked.size();
      if (worker.lost || tasks >= fewest || !view().can_run(task, info.id) || view().known(task, info.id))
        continue;
      best = info.id;
      fewest = tasks;
    }
    return best;
  }

  Duration duration_on(const Task& task, WorkerId worker) const { return view().estimate(task, worker); }

  Duration missing_transfers(const Task& task, const Node& node) const {
    Duration sum{};
    for (const Access& access : task.accesses())
      if (reads(access.mode) &&
          (index(access.datum) >= node.awaited.size() || node.awaited[index(access.datum)] == 0))
        sum += view().transfer_time(access.datum, node.id);
    return sum;
  }

  void count_awaited(const NaivelyAssigned& assigned, int change) {
    std::vector<std::uint32_t>& awaited = nodes_[workers_[index(assigned.worker)].node].awaited;
    for (const Access& access : assigned.task->accesses()) {
      if (!reads(access.mode)) continue;
      if (index(access.datum) >= awaited.size()) awaited.resize(2 * index(access.datum) + 1);
      awaited[index(access.datum)] += static_cast<std::uint32_t>(change);
    }
  }

  /// Takes back what assign() counted, except the place in the queue.
  void unassign(const NaivelyAssigned& assigned) {
    if (!assigned.started) workers_[index(assigned.worker)].queued -= assigned.charge;
    count_awaited(assigned, -1);
  }

  // ---- Algorithm 2

  Task* take_nearest(UrgencyQueue& queue, NodeId node, WorkerId worker) {
    const Task* best = nullptr;
    Bytes least = 0;
    queue.for_each_while([&](const Task& task) {
      if (!view().can_run(task, worker)) return true;
      if (first_priority_only_ && best != nullptr && task.priority != best->priority) return false;
      const Bytes missing = view().missing_bytes(task, node);
      if (best == nullptr || missing < least) {
        best = &task;
        least = missing;
      }
      return least > 0;
    });
    return best == nullptr ? nullptr : queue.take_first([&](const Task& task) { return &task == best; });
  }

  // ---- tasks that have been given out

  Task* give_out(Task& task, WorkerId worker) {
    NaivelyAssigned& assigned = *held_.at(&task);
    held_.erase(&task);
    if (assigned.worker != worker) {
      unassign(assigned);
      assigned.worker = worker;
      assigned.charge = assigned.duration = duration_on(task, worker);
      workers_[index(worker)].queued += assigned.charge;
      count_awaited(assigned, +1);
    }
    workers_[index(worker)].picked.push_back(&assigned);
    return &task;
  }
  NaivelyAssigned* find_picked(const Task& task) {
    for (Worker& worker : workers_)
      for (NaivelyAssigned* assigned : worker.picked)
        if (assigned->task == &task) return assigned;
    return nullptr;
  }
  void forget_picked(const Task& task) {
    NaivelyAssigned* assigned = find_picked(task);
    if (assigned == nullptr) return;
    unassign(*assigned);
    std::erase(workers_[index(assigned->worker)].picked, assigned);
    free_.push_back(assigned);
  }
  NaivelyAssigned& make(Task& task) {
    if (free_.empty()) free_.push_back(&records_.emplace_back());
    NaivelyAssigned& assigned = *free_.back();
    free_.pop_back();
    assigned = {};
    assigned.task = &task;
    return assigned;
  }

  static constexpr std::size_t enough_trials = 4;

  bool first_priority_only_;
  std::map<const Task*, NaivelyAssigned*> held_;
  std::vector<Worker> workers_;  // by id
  std::vector<Node> nodes_;      // as the view lists them
  std::deque<NaivelyAssigned> records_;
  std::vector<NaivelyAssigned*> free_;
};

}  // namespace fairlead::schedule
