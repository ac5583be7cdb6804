// DMDA, deque model data aware: a ready task goes to the queue of the worker that is expected to complete it
// first, counting the time until the worker is free, the missing transfers and the computation. Gonthier,
// Marchal, Thibault 2023, section 4.2, Algorithm 1; its Eq. 1 lacks the first of the three, which the policy
// that it names has (Augonnet et al. 2010: "an estimation of the dates when each processing unit should be
// available").
// DMDAS: the queues are sorted by priority, and a worker takes the task that misses the fewest bytes on its
// node, of equal ones the most urgent (Algorithm 2, Ready, over the whole queue). With ready=first it does so
// among the tasks of the highest priority only, as StarPU's dmdas does.
//
// The policies of 2010 differ in what is weighed, and in when data are fetched: DmdaRules, heft.cpp.
//
// What the paper leaves open is decided so: data that tasks assigned to a node will read count as present
// there; equal completion times go to the lowest worker; a worker's queue is its own until nobody else can do
// anything; where the duration is unknown, a few tasks are tried first.
//
// Ready would look through the whole queue; here the queue is kept in order of missing bytes, as data come
// and go. Where that would cost more than to look through it, since a datum that most tasks read has come or
// gone, the queue is looked through, until that has cost as much.
#include "schedule/dmda.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/append_reads.hpp"
#include "schedule/assigned_queue.hpp"
#include "schedule/missing_bytes.hpp"
#include "schedule/static_placement.hpp"

namespace fairlead::schedule {
namespace {

using Order = DmdaRules::Order;
using Bound = DmdaRules::Bound;

/// A task that has a worker.
struct Assigned : Queued {
  WorkerId worker{};
  Duration duration{};  // of the body there
  Duration charge{};    // that and the transfers: by how much it moved the worker's end
  bool started = false;
};

class Dmda final : public Policy {
 public:
  explicit Dmda(const DmdaRules& rules) : rules_(rules) {}

  Interest interests() const override {
    return by_bytes() ? Interest::progress | Interest::residency : Interest::progress;
  }

  void ready(Task& task, WorkerId) override {
    Assigned& assigned = make(task);
    task.policy_data = &assigned;
    assign(assigned);
  }
  void returned(Task& task) override {
    forget_picked(task);
    ready(task, no_id<WorkerId>);
  }
  void cancelled(Task& task) override { forget_picked(task); }

  void started(Task& task, WorkerId) override {
    Assigned* assigned = find_picked(task);
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
    std::vector<Assigned*> stranded;
    worker.queue.for_each_while([&](Queued& queued) {
      stranded.push_back(static_cast<Assigned*>(&queued));
      return true;
    });
    for (Assigned* assigned : stranded) dequeue(*assigned);
    for (Assigned* assigned : stranded) {
      unassign(*assigned);
      assign(*assigned);
    }
  }

  void reserved(DatumId datum, NodeId node) override { touched(datum, node); }
  void loaded(DatumId datum, NodeId node) override { touched(datum, node); }
  void dropped(DatumId datum, NodeId node, DropReason) override { touched(datum, node); }
  void removed(DatumId datum) override {
    if (index(datum) < first_writers_.size()) first_writers_[index(datum)] = no_id<TaskId>;
  }

  Task* pick(WorkerId id, bool) override {
    Worker& worker = workers_[index(id)];
    const auto can_run = [&](const Task& task) { return view().can_run(task, id); };
    Queued* queued = by_bytes() ? nearest(worker, can_run) : worker.queue.first(can_run);
    return queued == nullptr ? nullptr : give_out(static_cast<Assigned&>(*queued), id);
  }
  Task* take_any(WorkerId thief) override {
    for (Worker& victim : workers_)
      if (Queued* queued = victim.queue.first([&](const Task& it) { return view().can_run(it, thief); }))
        return give_out(static_cast<Assigned&>(*queued), thief);
    return nullptr;
  }

  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    std::size_t written = 0;
    if (!rules_.prefetch) return 0;
    workers_[index(worker)].queue.for_each_while(
        [&](const Queued& queued) { return append_reads(*queued.task, out, written); });
    return written;
  }

 private:
  struct Worker {
    AssignedQueue queue;            // not picked
    std::vector<Assigned*> picked;  // not finished
    std::size_t node = 0;           // position in nodes_
    Time busy_until{};              // the task that runs ends then, as far as is known
    Duration queued{};              // charges of those that have not started
    bool lost = false;
    explicit Worker(AssignedQueue::Nearest nearest) : queue(nearest) {}
  };
  struct Node {
    NodeId id{};
    MissingBytes missing;                // of the tasks that wait for its workers; by_bytes() only
    std::size_t looked_through = 0;      // tasks, since `missing` was up to date
    std::vector<std::uint32_t> awaited;  // by datum: unfinished tasks assigned here that read it
    Duration transfers{};                // scratch of assign()
    Node(const View& view, NodeId node) : id(node), missing(view, node) {}
  };

  bool by_bytes() const noexcept { return rules_.order != Order::fifo; }
  AssignedQueue::Nearest nearest_rule() const noexcept {
    switch (rules_.order) {
      case Order::fifo:
        return AssignedQueue::Nearest::never_asked;
      case Order::ready:
        return AssignedQueue::Nearest::all;
      case Order::ready_of_first:
        return AssignedQueue::Nearest::first_priority;
    }
    return {};
  }

  void attached() override {
    placement_.attach(view());
    for (const NodeInfo& info : view().nodes()) nodes_.emplace_back(view(), info.id);
    for (std::size_t i = 0; i < view().workers().size(); ++i) workers_.emplace_back(nearest_rule());
    for (const WorkerInfo& info : view().workers())
      workers_[index(info.id)].node =
          static_cast<std::size_t>(std::ranges::find(nodes_, info.node, &Node::id) - nodes_.begin());
  }

  // ---- Algorithm 1

  void assign(Assigned& assigned) {
    Task& task = *assigned.task;
    if (rules_.transfers > 0)
      for (Node& node : nodes_) node.transfers = missing_transfers(task, node);
    WorkerId best{};  // if nobody left can run it: kept where somebody who comes back would look
    Duration best_duration{}, best_charge{};
    Time earliest{};
    bool found = false;
    std::optional<WorkerId> only = bound_worker(task);
    if (!only.has_value()) only = worker_to_try(task);
    for (const WorkerInfo& info : view().workers()) {
      const Worker& worker = workers_[index(info.id)];
      if (worker.lost || !view().can_run(task, info.id) || (only.has_value() && *only != info.id)) continue;
      const Duration duration = duration_on(task, info.id);
      const Duration charge = nodes_[worker.node].transfers + duration;
      const Time completion = std::max(view().now(), worker.busy_until) + worker.queued + charge;
      if (found && completion >= earliest) continue;
      found = true;
      earliest = completion;
      best = info.id;
      best_duration = duration;
      best_charge = charge;
    }
    assigned.worker = best;
    assigned.duration = best_duration;
    assigned.charge = best_charge;
    assigned.started = false;
    Worker& worker = workers_[index(best)];
    worker.queued += assigned.charge;
    count_awaited(assigned, +1);
    if (by_bytes()) nodes_[worker.node].missing.enter(assigned, worker.queue);
    worker.queue.insert(assigned, by_bytes() ? task.priority : 0);
  }
  /// Undoes the last two.
  void dequeue(Assigned& assigned) {
    Worker& worker = workers_[index(assigned.worker)];
    worker.queue.erase(assigned);
    if (by_bytes()) nodes_[worker.node].missing.leave(assigned);
  }

  /// Where it is to run whatever that costs; none if it is free.
  std::optional<WorkerId> bound_worker(const Task& task) {
    if (rules_.bound == Bound::nothing) return std::nullopt;
    const Access* const access = StaticPlacement::leading_access(task);
    if (access == nullptr || (rules_.bound == Bound::first_writes && !writes_first(task, *access)))
      return std::nullopt;
    return placement_.worker_for(
        access->datum, [&](WorkerId id) { return !workers_[index(id)].lost && view().can_run(task, id); });
  }
  bool writes_first(const Task& task, const Access& access) {
    if (!writes(access.mode)) return false;
    if (index(access.datum) >= first_writers_.size())
      first_writers_.resize(2 * index(access.datum) + 1, no_id<TaskId>);
    TaskId& first = first_writers_[index(access.datum)];
    if (first == no_id<TaskId>) first = task.id;
    return first == task.id;  // also when it has been returned
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
    return Duration{std::llround(static_cast<double>(sum.count()) * rules_.transfers)};
  }

  void count_awaited(const Assigned& assigned, int change) {
    std::vector<std::uint32_t>& awaited = nodes_[workers_[index(assigned.worker)].node].awaited;
    for (const Access& access : assigned.task->accesses()) {
      if (!reads(access.mode)) continue;
      if (index(access.datum) >= awaited.size()) awaited.resize(2 * index(access.datum) + 1);
      awaited[index(access.datum)] += static_cast<std::uint32_t>(change);
    }
  }

  /// Takes back what assign() counted, except the place in the queue.
  void unassign(const Assigned& assigned) {
    if (!assigned.started) workers_[index(assigned.worker)].queued -= assigned.charge;
    count_awaited(assigned, -1);
  }

  // ---- Algorithm 2

  void touched(DatumId datum, NodeId at) {
    for (Node& node : nodes_)
      if (node.id == at) node.missing.touched(datum);
  }

  template <class Condition>
  Queued* nearest(Worker& worker, Condition&& can_run) {
    Node& node = nodes_[worker.node];
    const std::size_t outdated = node.missing.outdated();
    if (outdated > worker.queue.size() / 2 + 32 && node.looked_through < outdated) {
      node.looked_through += worker.queue.size();
      return look_through(worker.queue, node.id, can_run);
    }
    node.looked_through = 0;
    if (outdated > 0) node.missing.update();
    return worker.queue.nearest(can_run);
  }

  template <class Condition>
  Queued* look_through(const AssignedQueue& queue, NodeId node, Condition&& can_run) {
    Queued* best = nullptr;
    Bytes least = 0;
    queue.for_each_while([&](Queued& queued) {
      if (!can_run(*queued.task)) return true;
      if (rules_.order == Order::ready_of_first && best != nullptr && queued.priority != best->priority)
        return false;
      const Bytes missing = view().missing_bytes(*queued.task, node);
      if (best == nullptr || missing < least) {
        best = &queued;
        least = missing;
      }
      return least > 0;
    });
    return best;
  }

  // ---- tasks that have been given out

  Task* give_out(Assigned& assigned, WorkerId worker) {
    dequeue(assigned);
    Task& task = *assigned.task;
    task.policy_data = nullptr;
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
  Assigned* find_picked(const Task& task) {
    for (Worker& worker : workers_)
      for (Assigned* assigned : worker.picked)
        if (assigned->task == &task) return assigned;
    return nullptr;
  }
  void forget_picked(const Task& task) {
    Assigned* assigned = find_picked(task);
    if (assigned == nullptr) return;
    unassign(*assigned);
    std::erase(workers_[index(assigned->worker)].picked, assigned);
    free_.push_back(assigned);
  }
  Assigned& make(Task& task) {
    if (free_.empty()) free_.push_back(&records_.emplace_back());
    Assigned& assigned = *free_.back();
    free_.pop_back();
    assigned.task = &task;
    return assigned;
  }

  static constexpr std::size_t enough_trials = 4;

  DmdaRules rules_;
  std::vector<Worker> workers_;  // by id
  std::vector<Node> nodes_;      // as the view lists them
  StaticPlacement placement_;
  std::vector<TaskId> first_writers_;  // by datum; Bound::first_writes only
  std::deque<Assigned> records_;
  std::vector<Assigned*> free_;
};

}  // namespace

std::unique_ptr<Policy> make_dmda(const DmdaRules& rules) { return std::make_unique<Dmda>(rules); }
std::unique_ptr<Policy> make_dmda() { return make_dmda({}); }
std::unique_ptr<Policy> make_dmdas(const PolicyOptions& options) {
  constexpr std::array<std::string_view, 2> choices{"all", "first"};
  return make_dmda({.order = options.choice("ready", choices) == 0 ? Order::ready : Order::ready_of_first});
}

}  // namespace fairlead::schedule
