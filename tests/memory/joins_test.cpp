// A datum that two devices need at the same time: it is copied to one of them, and forwarded from there to the other. RAM,
// two devices with a link that is faster than those to RAM, and a third device; one copy at a time on each link.
#include "memory/bare.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {

Topology two_peers() {
  Topology topology = out_of_core_topology(1, 64_MiB, 1e9, Duration(0));
  topology.workers[0].kind = Machine::kind(0);
  for (std::size_t i = 1; i <= 3; ++i)
    add_device(topology,
               {.name = "device " + std::to_string(i), .kind = Machine::kind(i), .capacity = 64_MiB});
  join_peers(topology, Machine::device(1), Machine::device(2), 100e9, Duration(0));
  return Bare::with_copies(topology, 1);
}

struct Peers : Bare {
  Peers() : Bare(two_peers()) {}
  /// In RAM: one link away from each device.
  DatumId in_ram() {
    const DatumId made = datum(1_MiB);
    run(task(AccessMode::read, {made}));
    return made;
  }
  /// The only copy that was started since the last call.
  memory::Copy& started() {
    const auto all = take_started();
    EXPECT_EQ(all.size(), 1u);
    return *all.at(0);
  }
  void land(memory::Copy& copy, bool succeeded = true) { memory.landed(copy, succeeded, effects); }
  ReplicaState at(DatumId id, NodeId node) const { return memory.residency(id, node); }

  const NodeId ram = topology.host(), first = Machine::device(1), second = Machine::device(2),
               third = Machine::device(3);
};

}  // namespace

// Out of core: one copy from the disk, one between the devices.
TEST(Joins, ACopyToAPeerIsForwarded) {
  Machine machine;
  machine.topology = two_peers();
  World world = machine.with_data({{"A", 1_MiB}});
  world.submit(reads("A"), 1);
  world.submit(reads("A"), 2);
  world.run();
  EXPECT_EQ(crossed(world, "disk", true), 1_MiB);
  EXPECT_EQ(crossed(world, "device 1", true) + crossed(world, "device 2", true), 1_MiB);
  EXPECT_EQ(crossed(world, "device 1 - device 2", true) + crossed(world, "device 1 - device 2", false),
            1_MiB);
}

// If the first copy fails permanently, its task fails; the second task does not notice.
TEST(Joins, ATaskThatWaitsForAFailedCopyUsesAnotherSource) {
  Peers peers;
  const DatumId a = peers.in_ram();
  Task &one = peers.task(AccessMode::read, {a}), &other = peers.task(AccessMode::read, {a});
  ASSERT_TRUE(peers.admit(one, peers.first));
  ASSERT_TRUE(peers.admit(other, peers.second));
  peers.land(peers.started(), false);
  peers.land(peers.started(), false);  // the second attempt
  ASSERT_EQ(peers.effects.failed, std::vector<Task*>{&one});
  memory::Copy& direct = peers.started();
  EXPECT_EQ(direct.from->node, peers.ram);
  peers.effects.ready.clear();
  peers.land(direct);
  EXPECT_EQ(peers.effects.ready, std::vector<Task*>{&other});
  peers.memory.release(one, memory::TaskOutcome::failed, peers.effects);
  peers.memory.release(other, memory::TaskOutcome::succeeded, peers.effects);
  peers.memory.check(true);
}

// A is being prefetched to device 1, behind X, and from there to device 2. Now a task on device 1 needs A at once, and
// device 2 would have it sooner: device 1 must not wait for a copy that waits for device 1.
TEST(Joins, CopiesDoNotWaitInACycle) {
  Peers peers;
  const DatumId x = peers.in_ram(), a = peers.in_ram();
  ASSERT_TRUE(peers.prefetch(x, peers.first));
  memory::Copy& of_x = peers.started();
  ASSERT_TRUE(peers.prefetch(a, peers.first));
  ASSERT_TRUE(peers.prefetch(a, peers.second));
  EXPECT_TRUE(peers.take_started().empty());
  Task& urgent = peers.task(AccessMode::read, {a});
  ASSERT_TRUE(peers.admit(urgent, peers.first));
  peers.memory.check(false);
  peers.land(of_x);
  peers.land_all();
  EXPECT_EQ(urgent.pending_copies, 0);
  EXPECT_EQ(peers.at(a, peers.second), ReplicaState::valid);
  peers.memory.release(urgent, memory::TaskOutcome::succeeded, peers.effects);
  peers.memory.check(true);
}

// The same prefetches. A task on device 1 needs all of its memory: both copies are cancelled.
TEST(Joins, ACancelledCopyCancelsItsForwardedCopies) {
  Peers peers;
  const DatumId x = peers.in_ram(), a = peers.in_ram();
  ASSERT_TRUE(peers.prefetch(x, peers.first));
  memory::Copy& of_x = peers.started();
  ASSERT_TRUE(peers.prefetch(a, peers.first));
  ASSERT_TRUE(peers.prefetch(a, peers.second));
  Task& large = peers.task(AccessMode::read, {x});
  large.scratch_bytes = 63_MiB;
  ASSERT_TRUE(peers.admit(large, peers.first));
  EXPECT_EQ(peers.at(a, peers.first), ReplicaState::absent);
  EXPECT_EQ(peers.at(a, peers.second), ReplicaState::absent);
  peers.land(of_x);
  EXPECT_TRUE(peers.take_started().empty());
  peers.memory.release(large, memory::TaskOutcome::succeeded, peers.effects);
  peers.memory.check(true);
}

// A copy is not cancelled while a task waits for a forwarded copy.
TEST(Joins, ACopyThatATaskWaitsForIsNotCancelled) {
  Peers peers;
  const DatumId a = peers.in_ram();
  ASSERT_TRUE(peers.prefetch(a, peers.first));
  memory::Copy& prefetch = peers.started();
  Task& other = peers.task(AccessMode::read, {a});
  ASSERT_TRUE(peers.admit(other, peers.second));
  EXPECT_TRUE(peers.take_started().empty());  // it waits for the prefetch, which is in flight
  Task& large = peers.task(AccessMode::read, {});
  large.scratch_bytes = 64_MiB;
  ASSERT_FALSE(peers.admit(large, peers.first));
  peers.land(prefetch);
  memory::Copy& handed_on = peers.started();
  EXPECT_EQ(handed_on.from->node, peers.first);
  ASSERT_FALSE(peers.admit(large, peers.first));
  peers.land(handed_on);
  EXPECT_EQ(other.pending_copies, 0);
  ASSERT_TRUE(peers.admit(large, peers.first));
  peers.memory.release(large, memory::TaskOutcome::succeeded, peers.effects);
  peers.memory.release(other, memory::TaskOutcome::succeeded, peers.effects);
  peers.memory.check(true);
}

// A task on device 3, which has A, changes it while its copy to device 1 is in flight and will be forwarded from there:
// the copy that arrives is stale, and no task needs it.
TEST(Joins, AStaleCopyIsNotForwarded) {
  Peers peers;
  const DatumId a = peers.in_ram();
  peers.run(peers.task(AccessMode::read, {a}), peers.third);
  ASSERT_TRUE(peers.prefetch(a, peers.first));
  memory::Copy& prefetch = peers.started();
  ASSERT_EQ(prefetch.from->node, peers.ram);
  ASSERT_TRUE(peers.prefetch(a, peers.second));
  ASSERT_EQ(peers.at(a, peers.second), ReplicaState::in_flight);
  Task& writer = peers.task(AccessMode::read_write, {a});
  ASSERT_TRUE(peers.admit(writer, peers.third));
  ASSERT_EQ(writer.pending_copies, 0);
  peers.memory.release(writer, memory::TaskOutcome::succeeded, peers.effects);
  EXPECT_EQ(peers.at(a, peers.second), ReplicaState::absent);
  peers.land(prefetch);
  EXPECT_TRUE(peers.take_started().empty());
  EXPECT_EQ(peers.at(a, peers.first), ReplicaState::absent);
  peers.memory.check(true);
}

}  // namespace fairlead::tests
