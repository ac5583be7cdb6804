// Evictions: the policy selects victims for every purpose, and no eviction is useless.
#include <gtest/gtest.h>

#include "memory/bare.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {

constexpr NodeId evictor_ram{2};  // of out_of_core_topology()
constexpr auto device_behind = static_cast<NodeId>(index(evictor_ram) + 1);

/// Selects the most recently used replica, and counts its calls by node.
class Newest final : public Policy {
 public:
  void ready(Task&, WorkerId) override {}
  Task* pick(WorkerId, bool) override { return nullptr; }
  DatumId victim(NodeId node, EvictionCandidates& candidates) override {
    asked.push_back(node);
    DatumId last = no_id<DatumId>;
    for (DatumId id = candidates.next(); id != no_id<DatumId>; id = candidates.next()) last = id;
    return last;
  }
  std::vector<NodeId> asked;
};

Topology ram_and_a_device(Bytes ram, Bytes device) {
  Topology topology = out_of_core_topology(1, ram, 1e9, Duration{});
  add_device(topology, {.name = "device", .capacity = device});
  return topology;
}

}  // namespace

TEST(Evictor, AsksThePolicyForVictimsForATask) {
  Bare bare(3_MiB);
  Newest policy;
  bare.memory.use_policy(policy);
  const DatumId a = bare.datum(1_MiB), b = bare.datum(2_MiB);
  bare.run(bare.task(AccessMode::read, {a}));
  bare.run(bare.task(AccessMode::read, {b}));
  bare.run(bare.task(AccessMode::read, {bare.datum(1_MiB)}));
  EXPECT_EQ(policy.asked, (std::vector{evictor_ram}));
  EXPECT_EQ(bare.memory.residency(a, evictor_ram), ReplicaState::valid);
  EXPECT_EQ(bare.memory.residency(b, evictor_ram), ReplicaState::absent);
}

// A and B fill RAM; C is staged there on its way to the device, in the place of the policy's victim.
TEST(Evictor, AsksThePolicyForVictimsForAStagedReplica) {
  Bare bare(ram_and_a_device(2_MiB, 4_MiB));
  Newest policy;
  bare.memory.use_policy(policy);
  const DatumId a = bare.datum(1_MiB), b = bare.datum(1_MiB), c = bare.datum(1_MiB);
  bare.run(bare.task(AccessMode::read, {a}));
  bare.run(bare.task(AccessMode::read, {b}));
  bare.run(bare.task(AccessMode::read, {c}), device_behind);
  EXPECT_EQ(policy.asked, (std::vector{evictor_ram}));
  EXPECT_EQ(bare.memory.residency(a, evictor_ram), ReplicaState::valid);
  EXPECT_EQ(bare.memory.residency(b, evictor_ram), ReplicaState::absent);
  EXPECT_EQ(bare.memory.residency(c, evictor_ram), ReplicaState::valid);
}

// RAM has, in this order, A, D (changed), B, each 1 MiB: without A and B it has 2 MiB, but not contiguously.
TEST(Evictor, DropsNothingForAStagedReplicaIfThatDoesNotSuffice) {
  Bare bare(ram_and_a_device(3_MiB, 4_MiB));
  const DatumId a = bare.datum(1_MiB), d = bare.datum(1_MiB), b = bare.datum(1_MiB), c = bare.datum(2_MiB);
  bare.run(bare.task(AccessMode::read, {a}));
  bare.run(bare.task(AccessMode::write, {d}));
  bare.run(bare.task(AccessMode::read, {b}));
  bare.run(bare.task(AccessMode::read, {c}), device_behind);
  EXPECT_EQ(bare.memory.residency(c, device_behind), ReplicaState::valid);
  EXPECT_EQ(bare.memory.residency(c, evictor_ram), ReplicaState::absent);
  EXPECT_EQ(bare.memory.residency(a, evictor_ram), ReplicaState::valid);
  EXPECT_EQ(bare.memory.residency(b, evictor_ram), ReplicaState::valid);
  EXPECT_EQ(bare.memory.node(evictor_ram).evictions, 0u);
}

// No other node has the changed value: a write-back would be needed, and staging does not wait for one.
TEST(Evictor, WritesNothingBackForAStagedReplica) {
  Bare bare(ram_and_a_device(1_MiB, 4_MiB));
  Newest policy;
  bare.memory.use_policy(policy);
  const DatumId d = bare.datum(1_MiB), c = bare.datum(1_MiB);
  bare.run(bare.task(AccessMode::write, {d}));
  bare.run(bare.task(AccessMode::read, {c}), device_behind);
  EXPECT_TRUE(policy.asked.empty());  // there were no candidates
  EXPECT_EQ(bare.memory.residency(d, evictor_ram), ReplicaState::valid);
}

}  // namespace fairlead::tests
