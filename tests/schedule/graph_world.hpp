// A whole run in a few lines: one node with S slots for tiles of one size, one worker, and a graph of tasks.
// Tasks are picked into a pipeline, admitted in order when their tiles fit (the policy selects victims), run
// one by one; copies take no time. It counts loads: enough to compare the orders and evictions of
// policies.
#pragma once
#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <stdexcept>
#include <vector>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// A task of a graph world: accesses by tile, and its successors.
struct GraphTask {
  Task task;
  std::vector<Access> accesses;
  std::vector<GraphTask*> successors;
  Duration duration{};
  std::int64_t bottom_level = 0;  // ns to the end of the graph
  int waits_for = 0;
};

class GraphWorld final : public View {
 public:
  GraphWorld(std::size_t slots, std::size_t depth = 8) : slots_(slots), depth_(depth) {
    nodes_.push_back({NodeId{0}, slots});
    workers_.push_back({WorkerId{0}, WorkerKind::cuda, NodeId{0}});
  }
  ~GraphWorld() override = default;
  GraphWorld(const GraphWorld&) = delete;
  GraphWorld& operator=(const GraphWorld&) = delete;

  // ---- the graph, in program order

  Duration transfer{1'229'000};   // 14.75 MB at 12 GB/s
  std::size_t window = 1u << 20;  // unfinished tasks that the policy sees ahead

  DatumId tile(std::int32_t row, std::int32_t column) {
    coordinates_.push_back({0, row, column});
    extent_ = {std::max(extent_.rows, row + 1), std::max(extent_.columns, column + 1)};
    data_.emplace_back();
    return static_cast<DatumId>(data_.size() - 1);
  }
  void add(Duration duration, const std::vector<DatumId>& inputs, DatumId updated = no_id<DatumId>) {
    GraphTask& added = *tasks_.emplace_back(std::make_unique<GraphTask>());
    added.duration = duration;
    auto wait_for = [&](GraphTask* other) {
      if (other == nullptr || std::ranges::count(other->successors, &added) > 0) return;
      other->successors.push_back(&added);
      ++added.waits_for;
    };
    auto access = [&](DatumId datum, AccessMode mode) {
      Access a{};
      a.task = &added.task;
      a.datum = datum;
      a.mode = mode;
      added.accesses.push_back(a);
    };
    for (const DatumId input : inputs) {
      access(input, AccessMode::read);
      wait_for(data_[index(input)].writer);
      data_[index(input)].readers.push_back(&added);
    }
    if (updated != no_id<DatumId>) {
      Datum& out = data_[index(updated)];
      access(updated, AccessMode::read_write);
      wait_for(out.writer);
      for (GraphTask* reader : out.readers) wait_for(reader);
      out.readers.clear();
      out.writer = &added;
    }
    added.task.id = static_cast<TaskId>(tasks_.size() - 1);
    added.task.accesses_begin = added.accesses.data();
    added.task.access_count = static_cast<std::uint16_t>(added.accesses.size());
  }
  /// Priorities: the longest path to the end, in microseconds.
  void prioritize() {
    for (auto it = tasks_.rbegin(); it != tasks_.rend(); ++it) {
      GraphTask& t = **it;
      for (const GraphTask* next : t.successors)
        t.bottom_level = std::max(t.bottom_level, next->bottom_level);
      t.bottom_level += t.duration.count();
      t.task.priority = static_cast<std::int32_t>(t.bottom_level / 1000);
    }
  }

  // ---- the run

  struct Result {
    std::size_t loads = 0, tasks = 0;
    std::vector<TaskId> order;
  };
  Result run(Policy& policy) {
    policy_ = &policy;
    policy.attach(*this);
    submits_ = includes(policy.interests(), Notifications::submitted);
    submit_more();
    while (result_.tasks < tasks_.size()) {
      fill();
      if (pipeline_.empty() || pipeline_.front()->task.state != TaskState::staged)
        throw std::runtime_error("nothing runs although tasks remain");
      finish();
    }
    return result_;
  }

  // ---- View

  std::span<const WorkerInfo> workers() const override { return workers_; }
  std::span<const NodeInfo> nodes() const override { return nodes_; }
  Time now() const override { return {}; }
  Random& random() override { return random_; }
  bool can_run(const Task&, WorkerId) const override { return true; }
  Duration estimate(const Task& task, WorkerId) const override { return tasks_[index(task.id)]->duration; }
  Bytes bytes(DatumId) const override { return 1; }
  ReplicaState residency(DatumId datum, NodeId) const override {
    return data_[index(datum)].resident ? ReplicaState::valid : ReplicaState::absent;
  }
  Duration transfer_time(DatumId datum, NodeId) const override {
    return data_[index(datum)].resident ? Duration{} : transfer;
  }
  Duration transfer_time(Bytes bytes, NodeId from, NodeId to) const override {
    return from == to ? Duration{} : static_cast<std::int64_t>(bytes) * transfer;
  }
  void pipeline(NodeId, std::vector<const Task*>& out) const override {
    out.clear();
    for (const GraphTask* t : pipeline_) out.push_back(&t->task);
  }
  Coordinates coordinates(DatumId datum) const override { return coordinates_[index(datum)]; }
  Extent extent(std::int32_t) const override { return extent_; }

 private:
  struct Datum {
    GraphTask* writer = nullptr;      // the last so far
    std::vector<GraphTask*> readers;  // since then
    bool resident = false;
    int pins = 0;
    std::list<DatumId>::iterator in_lru;
  };
  struct Droppable final : EvictionCandidates {
    GraphWorld& world;
    std::list<DatumId>::iterator at;
    explicit Droppable(GraphWorld& w) : world(w), at(w.lru_.begin()) {}
    DatumId next() override {
      while (at != world.lru_.end() && world.data_[index(*at)].pins > 0) ++at;
      return at == world.lru_.end() ? no_id<DatumId> : *at++;
    }
  };

  void submit_more() {
    for (; submitted_ < tasks_.size() && submitted_ - result_.tasks < window; ++submitted_) {
      GraphTask& t = *tasks_[submitted_];
      t.task.policy_data = nullptr;
      if (submits_) policy_->submitted(t.task);
      if (t.waits_for == 0) become_ready(t, no_id<WorkerId>);
    }
    if (submits_) policy_->horizon_closed();
  }
  void become_ready(GraphTask& t, WorkerId by) {
    t.task.state = TaskState::ready;
    policy_->ready(t.task, by);
  }
  void fill() {
    while (pipeline_.size() < depth_) {
      Task* task = policy_->pick(WorkerId{0}, pipeline_.empty());
      if (task == nullptr && pipeline_.empty()) task = policy_->take_any(WorkerId{0});
      if (task == nullptr) break;
      if (task->state != TaskState::ready) throw std::runtime_error("picked what is not ready");
      task->state = TaskState::picked;
      pipeline_.push_back(tasks_[index(task->id)].get());
      if (!admit_in_order()) return;
    }
    admit_in_order();
  }
  /// True if all picked tasks are admitted.
  bool admit_in_order() {
    for (GraphTask* t : pipeline_)
      if (t->task.state == TaskState::picked && !admit(*t, t == pipeline_.front())) return false;
    return true;
  }
  bool admit(GraphTask& t, bool first) {
    std::size_t more_pins = 0, more_space = 0;
    for (const Access& a : t.accesses) {
      more_pins += data_[index(a.datum)].pins == 0 ? 1 : 0;
      more_space += data_[index(a.datum)].resident ? 0 : 1;
    }
    if (pinned_ + more_pins > (first ? slots_ : slots_ / 2)) return false;
    for (const Access& a : t.accesses) pin(a.datum);
    while (lru_.size() + more_space > slots_) evict();
    for (const Access& a : t.accesses) {
      Datum& datum = data_[index(a.datum)];
      if (datum.resident) {
        lru_.splice(lru_.end(), lru_, datum.in_lru);
        continue;
      }
      ++result_.loads;
      datum.resident = true;
      datum.in_lru = lru_.insert(lru_.end(), a.datum);
      policy_->reserved(a.datum, NodeId{0});
      policy_->arrived(a.datum, NodeId{0});
    }
    t.task.state = TaskState::staged;
    return true;
  }
  void evict() {
    Droppable candidates(*this);
    const DatumId victim = policy_->victim(NodeId{0}, candidates);
    if (victim == no_id<DatumId>) throw std::runtime_error("no victim");
    Datum& datum = data_[index(victim)];
    if (!datum.resident || datum.pins > 0) throw std::runtime_error("the victim is no candidate");
    datum.resident = false;
    lru_.erase(datum.in_lru);
    policy_->dropped(victim, NodeId{0}, DropReason::evicted);
  }
  void pin(DatumId datum) { pinned_ += data_[index(datum)].pins++ == 0 ? 1 : 0; }
  void unpin(DatumId datum) { pinned_ -= --data_[index(datum)].pins == 0 ? 1 : 0; }
  void finish() {
    GraphTask& t = *pipeline_.front();
    pipeline_.pop_front();
    policy_->started(t.task, WorkerId{0});
    t.task.state = TaskState::finished;
    for (const Access& a : t.accesses) unpin(a.datum);
    ++result_.tasks;
    result_.order.push_back(t.task.id);
    policy_->finished(t.task, WorkerId{0}, t.duration);
    for (GraphTask* next : t.successors)
      if (--next->waits_for == 0 && index(next->task.id) < submitted_) become_ready(*next, WorkerId{0});
    if (submitted_ < tasks_.size() && submitted_ - result_.tasks < window / 2) submit_more();
  }

  std::size_t slots_, depth_;
  std::vector<NodeInfo> nodes_;
  std::vector<WorkerInfo> workers_;
  std::vector<std::unique_ptr<GraphTask>> tasks_;
  std::vector<Datum> data_;
  std::vector<Coordinates> coordinates_;
  Extent extent_;
  std::deque<GraphTask*> pipeline_;
  std::list<DatumId> lru_;  // resident, least recently used first
  std::size_t pinned_ = 0, submitted_ = 0;
  bool submits_ = false;
  Policy* policy_ = nullptr;
  Result result_;
  Random random_{1};
};

/// Right-looking Cholesky of n x n tiles, with the durations of 1920 x 1920 tiles in single precision on a
/// V100.
inline std::unique_ptr<GraphWorld> cholesky(int n, std::size_t slots, std::size_t depth = 8) {
  auto world = std::make_unique<GraphWorld>(slots, depth);
  std::vector<std::vector<DatumId>> a(static_cast<std::size_t>(n));
  const auto at = [&](int m, int k) { return a[static_cast<std::size_t>(m)][static_cast<std::size_t>(k)]; };
  for (int m = 0; m < n; ++m)
    for (int k = 0; k <= m; ++k) a[static_cast<std::size_t>(m)].push_back(world->tile(m, k));
  const Duration potrf{1'310'000}, trsm{745'000}, syrk{590'000}, gemm{1'048'000};
  for (int k = 0; k < n; ++k) {
    world->add(potrf, {}, at(k, k));
    for (int m = k + 1; m < n; ++m) world->add(trsm, {at(k, k)}, at(m, k));
    for (int m = k + 1; m < n; ++m) {
      world->add(syrk, {at(m, k)}, at(m, m));
      for (int j = k + 1; j < m; ++j) world->add(gemm, {at(m, k), at(j, k)}, at(m, j));
    }
  }
  world->prioritize();
  return world;
}

/// Right-looking LU without pivoting of n x n tiles.
inline std::unique_ptr<GraphWorld> lu(int n, std::size_t slots, std::size_t depth = 8) {
  auto world = std::make_unique<GraphWorld>(slots, depth);
  std::vector<DatumId> a;
  for (int i = 0; i < n * n; ++i) a.push_back(world->tile(i / n, i % n));
  const auto at = [&](int m, int k) { return a[static_cast<std::size_t>(m * n + k)]; };
  const Duration getrf{1'310'000}, trsm{745'000}, gemm{1'048'000};
  for (int k = 0; k < n; ++k) {
    world->add(getrf, {}, at(k, k));
    for (int i = k + 1; i < n; ++i) {
      world->add(trsm, {at(k, k)}, at(i, k));
      world->add(trsm, {at(k, k)}, at(k, i));
    }
    for (int j = k + 1; j < n; ++j)
      for (int m = k + 1; m < n; ++m) world->add(gemm, {at(m, k), at(k, j)}, at(m, j));
  }
  world->prioritize();
  return world;
}

/// C += A B of n x n tiles: n chains of updates per row of C.
inline std::unique_ptr<GraphWorld> gemm(int n, std::size_t slots, std::size_t depth = 8) {
  auto world = std::make_unique<GraphWorld>(slots, depth);
  const auto count = static_cast<std::size_t>(n * n);
  std::vector<DatumId> a(count), b(count), c(count);
  for (auto* matrix : {&a, &b, &c})
    for (int i = 0; i < n * n; ++i) (*matrix)[static_cast<std::size_t>(i)] = world->tile(i / n, i % n);
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        world->add(Duration{1'048'000},
                   {a[static_cast<std::size_t>(i * n + k)], b[static_cast<std::size_t>(k * n + j)]},
                   c[static_cast<std::size_t>(i * n + j)]);
  world->prioritize();
  return world;
}

}  // namespace fairlead::schedule
