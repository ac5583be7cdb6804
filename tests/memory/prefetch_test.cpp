// Prefetched data never block a task, and useless prefetches are counted.
#include <gtest/gtest.h>

#include "memory/bare.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {
using memory::Admission;
using memory::Copy;

constexpr NodeId ram{2};  // of out_of_core_topology()
}  // namespace

// A is prefetched to a device through RAM, where its space will be released when it arrives. The copy fails
// instead, is queued again, and is cancelled then: RAM must not wait for that space for ever.
TEST(Prefetch, ThroughRamIsCancelledAfterAFailure) {
  Topology topology = out_of_core_topology(1, 2_MiB, 1e9, Duration{});
  add_device(topology, {.name = "device", .capacity = 4_MiB});
  for (LinkSpec& link : topology.links) link.concurrent_copies = 1;
  const NodeId device = topology.devices().front();
  Bare bare(topology);
  memory::Memory& memory = bare.memory;
  const DatumId a = bare.datum(1_MiB), b = bare.datum(2_MiB), c = bare.datum(3_MiB), d = bare.datum(1_MiB),
                e = bare.datum(1_MiB);

  ASSERT_TRUE(bare.prefetch(a, device));
  const std::vector<Copy*> prefetch = bare.take_started();
  ASSERT_EQ(prefetch.size(), 1u);
  ASSERT_NE(prefetch[0]->via, nullptr);
  Task& large = bare.task(AccessMode::read, {b});
  ASSERT_EQ(memory.admit(large, ram, true, bare.effects), Admission::no_space);
  ASSERT_EQ(memory.node(ram).revoked_bytes, 1_MiB);
  Task& urgent = bare.task(AccessMode::read, {c});
  ASSERT_EQ(memory.admit(urgent, device, true, bare.effects), Admission::admitted);
  memory.landed(*prefetch[0], false, bare.effects);  // C uses the link now
  Task& another = bare.task(AccessMode::read, {d});
  ASSERT_EQ(memory.admit(another, device, true, bare.effects), Admission::admitted);  // in the space of A
  memory.check(false);
  EXPECT_EQ(memory.node(ram).revoked_bytes, 0u);

  memory.forget_claim(large);
  Task& small = bare.task(AccessMode::read, {e});
  ASSERT_EQ(memory.admit(small, ram, true, bare.effects), Admission::admitted);
  for (int landed = 0; landed < 3; ++landed)
    for (Copy* copy : bare.take_started()) memory.landed(*copy, true, bare.effects);
  memory.release(small, memory::TaskOutcome::succeeded, bare.effects);
  EXPECT_EQ(memory.admit(large, ram, true, bare.effects), Admission::admitted);  // E is evicted for it
}

TEST(Prefetch, UsesFreeSpaceOnly) {
  Bare bare(4_MiB);
  bare.run(bare.task(AccessMode::read, {bare.datum(2_MiB), bare.datum(2_MiB)}));
  EXPECT_FALSE(bare.prefetch(bare.datum(1_MiB), ram));
}

/// Selects the first candidate as a victim.
class Generous final : public Policy {
 public:
  void ready(Task&, WorkerId) override {}
  Task* pick(WorkerId, bool) override { return nullptr; }
  DatumId prefetch_victim(NodeId, DatumId, EvictionCandidates& candidates) override {
    return candidates.next();
  }
};

TEST(Prefetch, EvictsVictimsOfThePolicy) {
  Bare bare(4_MiB);
  Generous policy;
  bare.memory.use_policy(policy);
  const DatumId old = bare.datum(1_MiB), wanted = bare.datum(1_MiB);
  bare.run(bare.task(AccessMode::read, {old, bare.datum(3_MiB)}));
  EXPECT_TRUE(bare.prefetch(wanted, ram));
  EXPECT_EQ(bare.memory.residency(old, ram), ReplicaState::absent);
}

TEST(Prefetch, WaitsForTheWriteBackOfItsVictim) {
  Bare bare(4_MiB);
  Generous policy;
  bare.memory.use_policy(policy);
  const DatumId first = bare.datum(1_MiB), second = bare.datum(3_MiB), wanted = bare.datum(1_MiB);
  bare.run(bare.task(AccessMode::write, {first, second}));
  EXPECT_FALSE(bare.prefetch(wanted, ram));
  EXPECT_FALSE(bare.prefetch(wanted, ram));  // one at a time
  EXPECT_EQ(bare.memory.residency(second, ram), ReplicaState::valid);
  bare.land_all();
  EXPECT_TRUE(bare.prefetch(wanted, ram));
  EXPECT_EQ(bare.memory.datum(first).home.version, bare.memory.datum(first).version);
}

TEST(Prefetch, DoesNotEvictSmallerOrUsedReplicas) {
  Bare bare(4_MiB);
  Generous policy;
  bare.memory.use_policy(policy);
  const DatumId small = bare.datum(1_MiB), large = bare.datum(3_MiB);
  bare.run(bare.task(AccessMode::read, {small}));
  Task& using_it = bare.task(AccessMode::read, {large});
  ASSERT_TRUE(bare.admit(using_it));
  EXPECT_FALSE(bare.prefetch(bare.datum(1_MiB + 4096), ram));
  EXPECT_EQ(bare.memory.residency(small, ram), ReplicaState::valid);
  EXPECT_TRUE(bare.prefetch(bare.datum(1_MiB), ram));
  EXPECT_EQ(bare.memory.residency(large, ram), ReplicaState::in_flight);
}

TEST(Prefetch, TakesNoMoreThanAQuarterOfTheNodeAtATime) {
  Bare bare(8_MiB);
  EXPECT_TRUE(bare.prefetch(bare.datum(1_MiB), ram));
  EXPECT_TRUE(bare.prefetch(bare.datum(1_MiB), ram));
  EXPECT_FALSE(bare.prefetch(bare.datum(1_MiB), ram));
}

TEST(Prefetch, IsRefusedWhileATaskWaitsForMemory) {
  Bare bare(4_MiB);
  const DatumId large = bare.datum(4_MiB), other = bare.datum(1_MiB), wanted = bare.datum(1_MiB);
  Task& running = bare.task(AccessMode::read, {other});
  ASSERT_TRUE(bare.admit(running));
  EXPECT_FALSE(bare.admit(bare.task(AccessMode::read, {large})));
  EXPECT_FALSE(bare.prefetch(wanted, ram));
}

TEST(Prefetch, IsCancelledBeforeItStartsIfATaskNeedsItsSpace) {
  Bare bare(8_MiB, 1);
  const DatumId first = bare.datum(1_MiB), second = bare.datum(1_MiB), large = bare.datum(7_MiB);
  ASSERT_TRUE(bare.prefetch(first, ram));   // in flight
  ASSERT_TRUE(bare.prefetch(second, ram));  // queued behind it
  Task& task = bare.task(AccessMode::read, {large});
  EXPECT_TRUE(bare.admit(task));  // at once: the first copy need not finish
  EXPECT_EQ(bare.memory.residency(second, ram), ReplicaState::absent);
}

TEST(Prefetch, InFlightReleasesItsSpaceOnArrivalIfATaskNeedsIt) {
  Bare bare(4_MiB);
  const DatumId early = bare.datum(1_MiB), large = bare.datum(4_MiB);
  ASSERT_TRUE(bare.prefetch(early, ram));
  Task& task = bare.task(AccessMode::read, {large});
  EXPECT_FALSE(bare.admit(task));
  bare.land_all();
  EXPECT_TRUE(bare.admit(task));
  EXPECT_EQ(bare.unused(DropReason::prefetch_cancelled), 1_MiB);
}

TEST(Prefetch, IsKeptWhenATaskNeedsItAgain) {
  Bare bare(4_MiB);
  const DatumId early = bare.datum(1_MiB), large = bare.datum(4_MiB);
  ASSERT_TRUE(bare.prefetch(early, ram));
  Task& waiting = bare.task(AccessMode::read, {large});
  EXPECT_FALSE(bare.admit(waiting));
  bare.memory.forget_claim(waiting);
  Task& reader = bare.task(AccessMode::read, {early});
  EXPECT_TRUE(bare.admit(reader));
  bare.land_all();
  EXPECT_EQ(reader.pending_copies, 0);
  EXPECT_EQ(bare.memory.residency(early, ram), ReplicaState::valid);
}

TEST(Prefetch, ThatWasUselessTwiceIsNotRepeatedUntilTheDatumIsUsed) {
  Bare bare(4_MiB);
  const DatumId early = bare.datum(1_MiB);
  for (int i = 0; i < 2; ++i) {
    const DatumId large = bare.datum(4_MiB);
    ASSERT_TRUE(bare.prefetch(early, ram));
    bare.land_all();
    bare.run(bare.task(AccessMode::read, {large}));  // evicts it
    bare.memory.try_remove(large);
    bare.run(bare.task(AccessMode::write, {}));
  }
  EXPECT_EQ(bare.unused(DropReason::evicted), 2_MiB);
  EXPECT_FALSE(bare.prefetch(early, ram));
  bare.run(bare.task(AccessMode::read, {early}));
  bare.run(bare.task(AccessMode::read, {bare.datum(4_MiB)}));
  EXPECT_FALSE(bare.prefetch(early, ram));  // no space
}

TEST(Prefetch, NeverReadsAReplicaThatATaskIsChanging) {
  World world = devices({8_MiB, 8_MiB}).with_data({{"A", 1_MiB}});
  const auto writer = world.submit(adds_to("A"));
  world.run_until(task_started(writer));
  memory::Effects effects;
  EXPECT_FALSE(world.memory().prefetches().fetch(DatumId{0}, Machine::device(1), effects));
  world.run();
}

TEST(Prefetch, ThatWasNeverUsedIsCounted) {
  Bare bare(8_MiB);
  const DatumId used = bare.datum(1_MiB), unused = bare.datum(1_MiB);
  ASSERT_TRUE(bare.prefetch(used, ram));
  ASSERT_TRUE(bare.prefetch(unused, ram));
  bare.land_all();
  bare.run(bare.task(AccessMode::read, {used}));
  EXPECT_EQ(bare.memory.prefetches().unused(ram), 1_MiB);
}

// Independent tasks, one at a time, with free memory: the data of the next tasks are copied while one runs.
TEST(Prefetch, CopiesTheDataOfTheNextTasks) {
  World world = one_device(8_MiB).pipelines_of(1).scheduled_by("lws").with_data(
      {{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}});
  world.submit(reads("A"));
  world.submit(reads("B"));
  world.submit(reads("C"));
  world.run();
  std::size_t ahead = 0;
  for (const auto& copy : world.copies())
    ahead += copy.cause == memory::Cause::prefetch && copy.what == World::CopyEvent::landed;
  EXPECT_EQ(ahead, 2u);
  EXPECT_EQ(world.memory().prefetches().unused(Machine::device(0)), 0u);
}

// The same with memory for one task: no datum is prefetched, and none is copied twice.
TEST(Prefetch, DoesNothingWithMemoryForOneTaskOnly) {
  World world = one_device(2_MiB).pipelines_of(1).with_data({{"A", 2_MiB}, {"B", 2_MiB}, {"C", 2_MiB}});
  for (const char* name : {"A", "B", "C"}) world.submit(reads(name));
  world.run();
  for (const auto& copy : world.copies()) EXPECT_EQ(copy.cause, memory::Cause::demand);
  EXPECT_EQ(world.copies().size(), 6u);
}

}  // namespace fairlead::tests
