// DMDA, deque model data aware: a ready task goes to the queue of the worker with the earliest expected completion.
// This adds the time until the worker is free, the missing transfers and the computation. Gonthier, Marchal, Thibault
// 2023, section 4.2, Algorithm 1. Its Eq. 1 lacks the first of the three; the original policy has it (Augonnet et al.
// 2010: "an estimation of the dates when each processing unit should be available").
//
// DMDAS: the queues are sorted by priority. A worker takes the task that misses the fewest bytes on its node, among
// equals the one of highest priority (Algorithm 2, Ready, over the whole queue). With ready=first it chooses only among
// tasks of the highest priority, as StarPU's dmdas does.
//
// The policies of 2010 differ in weights, prefetching: see DmdaRules, heft.cpp.
//
// The length of a queue is the durations of its tasks plus the remainder of each task's transfers: the part that is not
// hidden when the tasks before it have finished, as in StarPU's dmda. Algorithm 1 leaves it open.
//
// Where the paper is silent: data that a node's assigned tasks will read count as present. Equal completion
// times go to the lowest worker. No other worker takes from a queue unless nothing else can run. Where a duration is
// unknown, a few trial tasks measure it first.
//
// Algorithm 2 would scan the whole queue; MissingBytes keeps it sorted as data arrive and leave.
#include "schedule/dmda.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "schedule/index/assigned_queue.hpp"
#include "schedule/index/free_time.hpp"
#include "schedule/index/missing_bytes.hpp"
#include "schedule/index/requested_data.hpp"
#include "schedule/index/task_records.hpp"
#include "schedule/index/trial.hpp"
#include "schedule/index/upcoming_reads.hpp"

namespace fairlead::schedule {
namespace {

using Nearest = AssignedQueue::LeastMissing;

struct Assigned : Queued {
  WorkerId worker{};
  Duration duration{};  // estimated duration of the body on that worker
  Duration charge{};    // what the task added to the worker's free time
  bool started = false;
};

class Dmda final : public Policy {
 public:
  explicit Dmda(const DmdaRules& rules) : rules_(rules), placement_(rules.bound) {}

  Notifications interests() const override {
    return by_bytes() ? Notifications::progress | Notifications::residency : Notifications::progress;
  }

  void ready(Task& task, WorkerId) override {
    Assigned& assigned = records_.make(task);
    assigned.task = &task;
    assign(assigned);
  }
  void returned(Task& task) override {
    release_picked(task);
    ready(task, no_id<WorkerId>);
  }
  void cancelled(Task& task) override { release_picked(task); }

  void started(Task& task, WorkerId) override {
    Assigned* assigned = records_.find_picked(task);
    if (assigned == nullptr) return;
    Worker& worker = workers_[index(assigned->worker)];
    assigned->started = true;
    worker.free.unqueue(assigned->charge);
    worker.free.busy_until(view().now() + assigned->duration);
  }
  void finished(Task& task, WorkerId worker, Duration) override {
    release_picked(task);
    workers_[index(worker)].free.busy_until(view().now());
  }

  // Assigns its tasks to other workers.
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
  void arrived(DatumId datum, NodeId node) override { touched(datum, node); }
  void dropped(DatumId datum, NodeId node, DropReason) override { touched(datum, node); }
  void removed(DatumId datum) override { placement_.removed(datum); }

  Task* pick(WorkerId id, bool) override {
    Worker& worker = workers_[index(id)];
    const auto can_run = [&](const Task& task) { return view().can_run(task, id); };
    Queued* queued = by_bytes()
                         ? nodes_[worker.node].missing.least_missing(worker.queue, can_run)  // Algorithm 2
                         : worker.queue.first(can_run);
    return queued == nullptr ? nullptr : hand_to_worker(static_cast<Assigned&>(*queued), id);
  }
  Task* take_any(WorkerId thief) override {
    for (Worker& victim : workers_)
      if (Queued* queued = victim.queue.first([&](const Task& it) { return view().can_run(it, thief); }))
        return hand_to_worker(static_cast<Assigned&>(*queued), thief);
    return nullptr;
  }

  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    if (!rules_.prefetch) return 0;
    UpcomingReads found(out);
    workers_[index(worker)].queue.for_each_while(
        [&](const Queued& queued) { return found.add(*queued.task); });
    return found.written();
  }

 private:
  struct Worker {
    AssignedQueue queue;     // assigned tasks that are not picked
    std::size_t picked = 0;  // and not finished
    std::size_t node = 0;    // in nodes_
    FreeTime free;
    bool lost = false;
    explicit Worker(Nearest nearest) : queue(nearest) {}
  };
  struct Node {
    NodeId id{};
    MissingBytes missing;    // of the tasks assigned to the node's workers; only if by_bytes()
    PendingReads requested;  // data read by unfinished tasks that are assigned to this node
    Duration transfers{};    // scratch of assign()
    Node(const View& view, NodeId node) : id(node), missing(view, node) {}
  };

  bool by_bytes() const noexcept { return rules_.nearest != Nearest::unused; }

  void attached() override {
    placement_.attach(view());
    const std::size_t devices = accelerators(view()).size();
    if (rules_.scale_by_devices && devices != 0) rules_.transfer_weight *= 2 * static_cast<double>(devices);
    for (const NodeInfo& info : view().nodes()) nodes_.emplace_back(view(), info.id);
    for (std::size_t i = 0; i < view().workers().size(); ++i) workers_.emplace_back(rules_.nearest);
    for (const WorkerInfo& info : view().workers())
      workers_[index(info.id)].node =
          static_cast<std::size_t>(std::ranges::find(nodes_, info.node, &Node::id) - nodes_.begin());
  }

  // ---- Algorithm 1

  void assign(Assigned& assigned) {
    Task& task = *assigned.task;
    if (rules_.transfer_weight > 0)
      for (Node& node : nodes_) node.transfers = missing_transfers(task, node);
    std::optional<WorkerId> only = placement_.worker_for(
        task, [&](WorkerId id) { return !workers_[index(id)].lost && view().can_run(task, id); });
    const Trial trial = only.has_value() ? Trial() : trial_of(task);
    if (!only.has_value()) only = trial.worker;
    // If no worker can run the task, worker 0 keeps it, where a worker that joins later finds it.
    assigned.worker = WorkerId{};
    assigned.duration = assigned.charge = {};
    assigned.started = false;
    Time earliest = Time::max();
    for (const WorkerInfo& info : view().workers()) {
      const Worker& worker = workers_[index(info.id)];
      if (!could_run(task, info) || (only.has_value() && *only != info.id)) continue;
      if (!only.has_value() && trial.must_wait_for_trial(view(), task, info)) continue;
      const Duration duration = view().estimate(task, info.id);
      const Time completion = worker.free.at(view().now()) + nodes_[worker.node].transfers + duration;
      if (completion >= earliest) continue;
      earliest = completion;
      assigned.worker = info.id;
      assigned.duration = duration;
    }
    Worker& worker = workers_[index(assigned.worker)];
    assigned.charge =
        worker.free.added(rules_.queue, assigned.duration, nodes_[worker.node].transfers, view().now());
    worker.free.queue(assigned.charge);
    nodes_[worker.node].requested.assigned(task);
    if (by_bytes()) nodes_[worker.node].missing.enter(assigned, worker.queue);
    worker.queue.insert(assigned, by_bytes() ? task.priority : 0);
  }
  /// Undoes the last two steps of assign().
  void dequeue(Assigned& assigned) {
    Worker& worker = workers_[index(assigned.worker)];
    worker.queue.erase(assigned);
    if (by_bytes()) nodes_[worker.node].missing.leave(assigned);
  }

  bool could_run(const Task& task, const WorkerInfo& info) const {
    return !workers_[index(info.id)].lost && view().can_run(task, info.id);
  }
  Trial trial_of(const Task& task) const {
    return Trial(
        view(), task, [&](const WorkerInfo& info) { return could_run(task, info); },
        [&](WorkerId id) { return workers_[index(id)].queue.size() + workers_[index(id)].picked; });
  }
  Duration missing_transfers(const Task& task, const Node& node) const {
    Duration sum{};
    for (const Access& access : task.accesses())
      if (reads(access.mode) && !node.requested.has(access.datum))
        sum += view().transfer_time(access.datum, node.id);
    return Duration{std::llround(static_cast<double>(sum.count()) * rules_.transfer_weight)};
  }

  /// Undoes what assign() counted, except the position in the queue.
  void unassign(const Assigned& assigned) {
    Worker& worker = workers_[index(assigned.worker)];
    if (!assigned.started) worker.free.unqueue(assigned.charge);
    nodes_[worker.node].requested.unassigned(*assigned.task);
  }

  void touched(DatumId datum, NodeId at) {
    for (Node& node : nodes_)
      if (node.id == at) node.missing.residency_changed(datum);
  }

  Task* hand_to_worker(Assigned& assigned, WorkerId id) {
    dequeue(assigned);
    Task& task = *assigned.task;
    Worker& worker = workers_[index(id)];
    if (assigned.worker != id) {
      unassign(assigned);
      assigned.worker = id;
      assigned.charge = assigned.duration = view().estimate(task, id);
      worker.free.queue(assigned.charge);
      nodes_[worker.node].requested.assigned(task);
    }
    records_.picked(task);
    ++worker.picked;
    return &task;
  }
  void release_picked(const Task& task) {
    const Assigned* assigned = records_.find_picked(task);
    if (assigned == nullptr) return;
    unassign(*assigned);
    --workers_[index(assigned->worker)].picked;
    records_.release_picked(task);
  }

  DmdaRules rules_;
  std::vector<Worker> workers_;  // by id
  std::vector<Node> nodes_;      // in the order of View::nodes()
  StaticPlacement placement_;
  TaskRecords<Assigned> records_;
};

}  // namespace

std::unique_ptr<Policy> make_dmda(const DmdaRules& rules) { return std::make_unique<Dmda>(rules); }

std::unique_ptr<Policy> make_dmda(const PolicyOptions& options) { return make_dmda(dmda::rules_in(options)); }
std::unique_ptr<Policy> make_dmdas(const PolicyOptions& options) {
  constexpr std::array<std::string_view, 2> choices{"all", "first"};
  DmdaRules rules = dmda::rules_in(options);
  rules.nearest = options.choice("ready", choices) == 0 ? Nearest::all : Nearest::first_priority;
  return make_dmda(rules);
}
std::unique_ptr<Policy> make_near() {
  return make_dmda({.nearest = Nearest::all, .queue = QueueRule::duration});
}
std::unique_ptr<Policy> make_nearer() {
  return make_dmda({.nearest = Nearest::all, .queue = QueueRule::duration, .transfer_weight = 2});
}

}  // namespace fairlead::schedule
