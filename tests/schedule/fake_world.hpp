// A machine without an engine: a test sets the resident data and the ready tasks, calls the policy, and checks
// its decisions. Everything has a name; time is in milliseconds.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "policy/policy.hpp"

namespace fairlead::schedule {

constexpr NodeId node(unsigned i) { return static_cast<NodeId>(i); }
constexpr WorkerId worker(unsigned i) { return static_cast<WorkerId>(i); }
constexpr Duration ms(double t) { return Duration{static_cast<std::int64_t>(t * 1e6)}; }

using Names = std::vector<std::string>;

/// A task. The order of the fields suits the tests.
struct Spec {
  std::string name;
  std::vector<std::string> reads;
  double ms = 1;
  int priority = 0;
  std::vector<std::string> updates = {};  // read and written
  std::vector<std::string> writes = {};
  PlaceHint place = {};  // the program's hint
};

class FakeWorld : public View {
 public:
  explicit FakeWorld(unsigned nodes = 1, unsigned workers_per_node = 1) {
    for (unsigned n = 0; n < nodes; ++n) {
      nodes_.push_back({node(n), Bytes{1} << 40});
      for (unsigned w = 0; w < workers_per_node; ++w)
        workers_.push_back({worker(static_cast<unsigned>(workers_.size())), WorkerKind::cuda, node(n)});
    }
    state_.resize(nodes);
    pipeline_.resize(nodes);
  }
  ~FakeWorld() override = default;
  FakeWorld(const FakeWorld&) = delete;
  FakeWorld& operator=(const FakeWorld&) = delete;

  // ---- the situation

  double from_host_ms = 2;                                    // for every datum
  double from_peer_ms = 0;                                    // 0: no links between the nodes
  std::map<std::string, std::vector<unsigned>> only_workers;  // by task: those that can run it; default all
  std::map<unsigned, double> times_slower;                    // by worker; default 1
  std::set<unsigned> unknown_on;                              // workers whose estimates are guesses
  std::map<std::string, std::pair<int, int>> tiles;           // by datum: row and column
  std::map<std::string, Bytes> sizes;                         // by datum; default 1
  std::function<std::uint32_t(unsigned, unsigned)> apart;     // within a node; default not at all
  std::map<std::string, int> advised;                         // by datum: an accelerator; default none
  double now_ms = 0;
  WhatIfSimulation* played_by = nullptr;  // simulates tasks; null: none

  void kind(unsigned by, WorkerKind kind) { workers_[by].kind = kind; }

  void attach(Policy& policy) {
    policy_ = &policy;
    interests_ = policy.interests();
    policy.attach(*this);
  }
  DatumId datum(const std::string& name) {
    const auto [it, isnew] = ids_.emplace(name, static_cast<DatumId>(names_.size()));
    if (isnew) {
      names_.push_back(name);
      for (auto& states : state_) states.push_back(ReplicaState::absent);
    }
    return it->second;
  }
  Task& submit(const Spec& spec) {
    auto owned = std::make_unique<Record>();
    Record& record = *owned;
    record.spec = spec;
    auto add = [&](const std::vector<std::string>& names, AccessMode mode) {
      for (const auto& name : names) {
        Access access{};
        access.task = &record.task;
        access.datum = datum(name);
        access.mode = mode;
        record.accesses.push_back(access);
      }
    };
    add(spec.reads, AccessMode::read);
    add(spec.updates, AccessMode::read_write);
    add(spec.writes, AccessMode::write);
    record.task.id = static_cast<TaskId>(tasks_.size());
    record.task.priority = spec.priority;
    record.task.place = spec.place;
    record.task.accesses_begin = record.accesses.data();
    record.task.access_count = static_cast<std::uint16_t>(record.accesses.size());
    by_name_[spec.name] = &record;
    tasks_.push_back(std::move(owned));
    return record.task;
  }
  void ready(const Spec& spec, WorkerId released_by = no_id<WorkerId>) {
    submit(spec);
    make_ready(spec.name, released_by);
  }
  /// A submitted task.
  void make_ready(const std::string& name, WorkerId released_by = no_id<WorkerId>) {
    Task& task = by_name_.at(name)->task;
    task.state = TaskState::ready;
    policy_->ready(task, released_by);
  }
  /// As ready(), for a policy with Notifications::submitted.
  void submit_ready(const Spec& spec) {
    Task& task = submit(spec);
    if (wants(Notifications::submitted)) policy_->submitted(task);
    task.state = TaskState::ready;
    policy_->ready(task, no_id<WorkerId>);
  }
  void ready(std::initializer_list<Spec> specs) {
    for (const Spec& spec : specs) ready(spec);
  }
  /// The datum arrives on the node; the policy is notified.
  void load(const std::string& name, NodeId at) {
    const DatumId id = datum(name);
    if (state(id, at) != ReplicaState::absent && state(id, at) != ReplicaState::in_flight) return;
    loads_.push_back(name);
    if (state(id, at) == ReplicaState::absent) expect(name, at);
    state(id, at) = ReplicaState::valid;
    if (wants(Notifications::residency)) policy_->arrived(id, at);
  }
  /// A copy of the datum to the node is in flight; load() completes it.
  void expect(const std::string& name, NodeId at) {
    state(datum(name), at) = ReplicaState::in_flight;
    if (wants(Notifications::residency)) policy_->reserved(datum(name), at);
  }
  void drop(const std::string& name, NodeId at, DropReason why = DropReason::evicted) {
    state(datum(name), at) = ReplicaState::absent;
    if (wants(Notifications::residency)) policy_->dropped(datum(name), at, why);
  }
  /// The datum is being written back to free memory; the policy is notified that it is dropped.
  void leave(const std::string& name, NodeId at) {
    state(datum(name), at) = ReplicaState::evicting;
    if (wants(Notifications::residency)) policy_->dropped(datum(name), at, DropReason::evicted);
  }
  /// The write-back completes, without a notification,
  void gone(const std::string& name, NodeId at) { state(datum(name), at) = ReplicaState::absent; }
  /// or the datum stays.
  void stays(const std::string& name, NodeId at) {
    state(datum(name), at) = ReplicaState::valid;
    if (wants(Notifications::residency)) policy_->reserved(datum(name), at);
    if (wants(Notifications::residency)) policy_->arrived(datum(name), at);
  }
  /// The datum is used in place by the node's workers: valid there, without a notification.
  void in_place(const std::string& name, NodeId at) { state(datum(name), at) = ReplicaState::valid; }

  // ---- calls of the policy

  /// The task that the worker gets; "-" for none. It stays picked, holding nothing.
  std::string pick(WorkerId id, bool must = false) { return picked(policy_->pick(id, must), id); }
  std::string take_any(unsigned id) { return picked(policy_->take_any(worker(id)), worker(id)); }
  std::string picked(Task* task, WorkerId id) {
    if (task == nullptr) return "-";
    task->state = TaskState::picked;
    task->worker = id;
    pipeline_[index(workers()[index(id)].node)].push_back(task);
    return name_of(*task);
  }
  std::string pick(unsigned id, bool must = false) { return pick(worker(id), must); }
  /// Picks and admits: what the task reads is loaded.
  std::string request(unsigned id) {
    const std::string name = pick(id);
    if (name != "-") admit(name);
    return name;
  }
  void admit(const std::string& name) {
    Task& task = by_name_.at(name)->task;
    const NodeId at = node_of(task);
    for (const Access& access : task.accesses())
      if (reads(access.mode)) load(names_[index(access.datum)], at);
    task.state = TaskState::staged;
  }
  void start(const std::string& name, unsigned by = 0) {
    if (wants(Notifications::progress)) policy_->started(by_name_.at(name)->task, worker(by));
  }
  void finish(const std::string& name, unsigned by = 0) {
    Task& task = by_name_.at(name)->task;
    std::erase(pipeline_[index(node_of(task))], &task);
    task.state = TaskState::finished;
    if (wants(Notifications::progress)) policy_->finished(task, worker(by), ms(by_name_.at(name)->spec.ms));
  }
  void give_back(const std::string& name) {
    Task& task = by_name_.at(name)->task;
    std::erase(pipeline_[index(node_of(task))], &task);
    task.state = TaskState::ready;
    policy_->returned(task);
  }
  /// The datum that the policy evicts among the candidates, least recently used first.
  std::string victim(NodeId at, const Names& candidates) {
    List list = list_of(candidates);
    return names_[index(policy_->victim(at, list))];
  }
  /// The datum that the policy evicts to prefetch `wanted`; empty for none.
  std::string spare(NodeId at, const std::string& wanted, const Names& candidates) {
    List list = list_of(candidates);
    const DatumId spared = policy_->prefetch_victim(at, datum(wanted), list);
    return spared == no_id<DatumId> ? "" : names_[index(spared)];
  }
  Names upcoming(unsigned id, std::size_t most) {
    std::vector<DatumId> ids(most);
    ids.resize(policy_->upcoming(worker(id), ids));
    Names out;
    for (const DatumId d : ids) out.push_back(names_[index(d)]);
    return out;
  }
  /// What has been loaded since the last call, in order.
  Names loads() { return std::exchange(loads_, {}); }
  std::string name_of(const Task& task) const { return tasks_[index(task.id)]->spec.name; }
  Task& task(const std::string& name) { return by_name_.at(name)->task; }

  // ---- View

  std::span<const WorkerInfo> workers() const override { return workers_; }
  std::span<const NodeInfo> nodes() const override { return nodes_; }
  Time now() const override { return Time{} + ms(now_ms); }
  Random& random() override { return random_; }
  std::uint32_t distance(WorkerId a, WorkerId b) const override {
    const bool one_node = workers_[index(a)].node == workers_[index(b)].node;
    return one_node && apart ? apart(static_cast<unsigned>(a), static_cast<unsigned>(b))
                             : View::distance(a, b);
  }
  bool can_run(const Task& task, WorkerId id) const override {
    const auto it = only_workers.find(name_of(task));
    return it == only_workers.end() || std::ranges::count(it->second, index(id)) > 0;
  }
  Duration estimate(const Task& task, WorkerId by) const override {
    const auto slower = times_slower.find(static_cast<unsigned>(index(by)));
    return ms(tasks_[index(task.id)]->spec.ms * (slower == times_slower.end() ? 1 : slower->second));
  }
  bool is_estimate_reliable(const Task&, WorkerId by) const override {
    return !unknown_on.contains(static_cast<unsigned>(index(by)));
  }
  Bytes bytes(DatumId id) const override {
    const auto size = sizes.find(names_[index(id)]);
    return size == sizes.end() ? 1 : size->second;
  }
  ReplicaState residency(DatumId id, NodeId at) const override { return state_[index(at)][index(id)]; }
  Duration transfer_time(DatumId id, NodeId at) const override {
    if (residency(id, at) != ReplicaState::absent) return {};
    double best = from_host_ms;
    for (std::size_t n = 0; n < state_.size(); ++n)
      if (from_peer_ms > 0 && state_[n][index(id)] == ReplicaState::valid)
        best = std::min(best, from_peer_ms);
    return ms(best);
  }
  Duration transfer_time(Bytes bytes, NodeId from, NodeId to) const override {
    if (from == to) return {};
    return ms(static_cast<double>(bytes) * (from_peer_ms > 0 ? from_peer_ms : 2 * from_host_ms));
  }
  WhatIfSimulation* what_if_simulation() const override { return played_by; }
  void pipeline(NodeId at, std::vector<const Task*>& out) const override {
    out.assign(pipeline_[index(at)].begin(), pipeline_[index(at)].end());
  }
  int advice(DatumId id) const override {
    const auto device = advised.find(names_[index(id)]);
    return device == advised.end() ? no_device : device->second;
  }
  Coordinates coordinates(DatumId id) const override {
    const auto tile = tiles.find(names_[index(id)]);
    return tile == tiles.end() ? Coordinates{} : Coordinates{0, tile->second.first, tile->second.second};
  }
  Extent extent(std::int32_t) const override {
    Extent all;
    for (const auto& [name, tile] : tiles)
      all = {std::max(all.rows, tile.first + 1), std::max(all.columns, tile.second + 1)};
    return all;
  }

 private:
  struct Record {
    Task task;
    std::vector<Access> accesses;
    Spec spec;
  };
  struct List final : EvictionCandidates {
    std::vector<DatumId> ids;
    std::size_t at = 0;
    DatumId next() override { return at < ids.size() ? ids[at++] : no_id<DatumId>; }
  };
  List list_of(const Names& names) {
    List list;
    for (const auto& name : names) list.ids.push_back(datum(name));
    return list;
  }
  ReplicaState& state(DatumId id, NodeId at) { return state_[index(at)][index(id)]; }
  /// As in the engine: a policy that did not ask hears nothing.
  bool wants(Notifications what) const noexcept { return includes(interests_, what); }
  NodeId node_of(const Task& task) const {
    for (std::size_t n = 0; n < pipeline_.size(); ++n)
      if (std::ranges::count(pipeline_[n], &task) > 0) return node(static_cast<unsigned>(n));
    ADD_FAILURE() << name_of(task) << " is in no pipeline";
    return node(0);
  }

  Policy* policy_ = nullptr;
  Notifications interests_{};
  std::vector<NodeInfo> nodes_;
  std::vector<WorkerInfo> workers_;
  std::map<std::string, DatumId> ids_;
  Names names_, loads_;
  std::vector<std::vector<ReplicaState>> state_;  // by node, datum
  std::vector<std::vector<const Task*>> pipeline_;
  std::vector<std::unique_ptr<Record>> tasks_;
  std::map<std::string, Record*> by_name_;
  Random random_{1};
};

}  // namespace fairlead::schedule
