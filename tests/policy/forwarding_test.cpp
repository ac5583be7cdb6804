// A wrapper of a policy, or of a view, forwards the calls that it does not change. tests/repository/test_forwarding.py
// checks that none of their virtual functions is missing.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "policy/forwarding_policy.hpp"
#include "policy/forwarding_view.hpp"

namespace fairlead {
namespace {

constexpr auto datum = DatumId{3}, wanted = DatumId{4};
constexpr auto node = NodeId{2};
constexpr auto worker = WorkerId{5};
constexpr Duration took{70};

struct NoCandidates final : EvictionCandidates {
  DatumId next() override { return datum; }
};

/// Records every call, and returns values that differ from all defaults.
struct Recorder final : Policy {
  mutable std::vector<std::string> calls;
  Task* task = nullptr;

  template <class T>
  T note(std::string call, T answer) const {
    calls.push_back(std::move(call));
    return answer;
  }
  static std::string of(WorkerId id) { return std::to_string(index(id)); }
  static std::string of(DatumId id) { return std::to_string(index(id)); }
  static std::string of(NodeId id) { return std::to_string(index(id)); }

  Notifications interests() const override { return note("interests", Notifications::residency); }
  std::size_t horizon() const override { return note("horizon", std::size_t{77}); }
  bool uses_local_queues() const override { return note("uses_local_queues", true); }
  void ready(Task& t, WorkerId by) override { note("ready " + of(by), task = &t); }
  void returned(Task&) override { note("returned", 0); }
  void cancelled(Task&) override { note("cancelled", 0); }
  void worker_lost(WorkerId id) override { note("worker_lost " + of(id), 0); }
  void submitted(Task&) override { note("submitted", 0); }
  void horizon_closed() override { note("horizon_closed", 0); }
  void started(Task&, WorkerId by) override { note("started " + of(by), 0); }
  void finished(Task&, WorkerId by, Duration d) override {
    note("finished " + of(by) + " " + std::to_string(d.count()), 0);
  }
  void reserved(DatumId d, NodeId n) override { note("reserved " + of(d) + " " + of(n), 0); }
  void arrived(DatumId d, NodeId n) override { note("loaded " + of(d) + " " + of(n), 0); }
  void dropped(DatumId d, NodeId n, DropReason why) override {
    note("dropped " + of(d) + " " + of(n) + (why == DropReason::prefetch_cancelled ? " revoked" : ""), 0);
  }
  void removed(DatumId d) override { note("removed " + of(d), 0); }
  Task* pick(WorkerId by, bool must) override { return note("pick " + of(by) + (must ? " must" : ""), task); }
  Task* take_any(WorkerId by) override { return note("take_any " + of(by), task); }
  DatumId victim(NodeId n, EvictionCandidates& candidates) override {
    return note("victim " + of(n), candidates.next());
  }
  DatumId prefetch_victim(NodeId n, DatumId d, EvictionCandidates& candidates) override {
    return note("spare " + of(n) + " " + of(d), candidates.next());
  }
  std::size_t upcoming(WorkerId by, std::span<DatumId> out) override {
    out.front() = datum;
    return note("upcoming " + of(by), std::size_t{1});
  }
  void attached() override { note("attached", 0); }
};

struct Plain final : ForwardingPolicy<Plain> {
  using ForwardingPolicy::ForwardingPolicy;
};

/// Records the worker of each call.
struct Bracketed final : ForwardingPolicy<Bracketed> {
  using ForwardingPolicy::ForwardingPolicy;
  std::vector<WorkerId> asked;
  template <class F>
  auto around(WorkerId by, F&& f) {
    asked.push_back(by);
    return f();
  }
};

/// A view of one worker on one node, whose values differ from all defaults.
struct OddView final : View {
  WorkerInfo one_worker{worker, WorkerKind::cuda, node};
  NodeInfo one_node{node, 1000};
  Random numbers{1};

  std::span<const WorkerInfo> workers() const override { return {&one_worker, 1}; }
  std::span<const NodeInfo> nodes() const override { return {&one_node, 1}; }
  Time now() const override { return Time{Duration{11}}; }
  Random& random() override { return numbers; }
  std::uint32_t distance(WorkerId, WorkerId) const override { return 12; }
  bool can_run(const Task&, WorkerId) const override { return true; }
  Duration estimate(const Task&, WorkerId) const override { return Duration{13}; }
  bool is_estimate_reliable(const Task&, WorkerId) const override { return false; }
  Bytes bytes(DatumId) const override { return 14; }
  ReplicaState residency(DatumId, NodeId) const override { return ReplicaState::evicting; }
  bool has_newest(DatumId, NodeId) const override { return true; }
  Duration transfer_time(DatumId, NodeId) const override { return Duration{15}; }
  Duration transfer_time(Bytes, NodeId, NodeId) const override { return Duration{16}; }
  void pipeline(NodeId, std::vector<const Task*>& out) const override { out.assign(17, nullptr); }
  Coordinates coordinates(DatumId) const override { return {18, 19, 20}; }
  Extent extent(std::int32_t) const override { return {21, 22}; }
  int advice(DatumId) const override { return 23; }
};

}  // namespace

TEST(Forwarding, ForwardsEveryCallWithItsArgumentsAndResult) {
  auto owned = std::make_unique<Recorder>();
  Recorder& inner = *owned;
  Plain outer(std::move(owned));
  Policy& policy = outer;
  OddView view;
  Task task;
  NoCandidates candidates;
  std::vector<DatumId> out(1);

  policy.attach(view);
  EXPECT_EQ(policy.interests(), Notifications::residency);
  EXPECT_EQ(policy.horizon(), 77u);
  EXPECT_TRUE(policy.uses_local_queues());
  policy.ready(task, worker);
  policy.returned(task);
  policy.cancelled(task);
  policy.worker_lost(worker);
  policy.submitted(task);
  policy.horizon_closed();
  policy.started(task, worker);
  policy.finished(task, worker, took);
  policy.reserved(datum, node);
  policy.arrived(datum, node);
  policy.dropped(datum, node, DropReason::prefetch_cancelled);
  policy.removed(datum);
  EXPECT_EQ(policy.pick(worker, true), &task);
  EXPECT_EQ(policy.take_any(worker), &task);
  EXPECT_EQ(policy.victim(node, candidates), datum);
  EXPECT_EQ(policy.prefetch_victim(node, wanted, candidates), datum);
  EXPECT_EQ(policy.upcoming(worker, out), 1u);
  EXPECT_EQ(out.front(), datum);
  EXPECT_EQ(inner.calls,
            (std::vector<std::string>{
                "attached",  "interests",     "horizon",       "uses_local_queues", "ready 5",
                "returned",  "cancelled",     "worker_lost 5", "submitted",         "horizon_closed",
                "started 5", "finished 5 70", "reserved 3 2",  "loaded 3 2",        "dropped 3 2 revoked",
                "removed 3", "pick 5 must",   "take_any 5",    "victim 2",          "spare 2 4",
                "upcoming 5"}));
}

TEST(Forwarding, AWrapperMaySurroundEveryCall) {
  auto owned = std::make_unique<Recorder>();
  Recorder& inner = *owned;
  Bracketed policy(std::move(owned));
  Task task;
  policy.ready(task, worker);
  policy.removed(datum);
  EXPECT_EQ(policy.pick(worker, false), &task);
  EXPECT_EQ(policy.asked, (std::vector{worker, no_id<WorkerId>, worker}));
  EXPECT_EQ(inner.calls, (std::vector<std::string>{"ready 5", "removed 3", "pick 5"}));
}

TEST(Forwarding, AViewOfAViewReturnsTheSame) {
  OddView odd;
  ForwardingView outer(odd);
  const View& view = outer;
  Task task;
  std::vector<const Task*> picked;

  EXPECT_EQ(view.workers().data(), &odd.one_worker);
  EXPECT_EQ(view.nodes().data(), &odd.one_node);
  EXPECT_EQ(view.now(), odd.now());
  EXPECT_EQ(&outer.random(), &odd.numbers);
  EXPECT_EQ(view.distance(worker, worker), 12u);
  EXPECT_TRUE(view.can_run(task, worker));
  EXPECT_EQ(view.estimate(task, worker), Duration{13});
  EXPECT_FALSE(view.is_estimate_reliable(task, worker));
  EXPECT_EQ(view.bytes(datum), 14u);
  EXPECT_EQ(view.residency(datum, node), ReplicaState::evicting);
  EXPECT_TRUE(view.has_newest(datum, node));
  EXPECT_EQ(view.transfer_time(datum, node), Duration{15});
  EXPECT_EQ(view.transfer_time(Bytes{1}, node, node), Duration{16});
  view.pipeline(node, picked);
  EXPECT_EQ(picked.size(), 17u);
  EXPECT_EQ(view.coordinates(datum).row, 19);
  EXPECT_EQ(view.extent(0).columns, 22);
  EXPECT_EQ(view.advice(datum), 23);
}

}  // namespace fairlead
