// A datum that two devices want at the same time, and that comes to one of them: the other has it from there. RAM, two
// devices with a wire between them that is faster than those to RAM, and a third; one copy at a time on each wire.
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
  /// In RAM: the wire to a device is all that it has to cross.
  DatumId in_ram() {
    const DatumId made = datum(1_MiB);
    run(task(AccessMode::read, {made}));
    return made;
  }
  /// The only copy that was started since.
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
TEST(Joins, WhatComesToAPeerIsHandedOn) {
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

// If the first copy fails for good, its task fails; the second task does not hear of that.
TEST(Joins, WhoWaitsForACopyThatFailsAsksElsewhere) {
  Peers peers;
  const DatumId a = peers.in_ram();
  Task &one = peers.task(AccessMode::read, {a}), &other = peers.task(AccessMode::read, {a});
  ASSERT_TRUE(peers.admit(one, peers.first));
  ASSERT_TRUE(peers.admit(other, peers.second));
  peers.land(peers.started(), false);
  peers.land(peers.started(), false);  // once more
  ASSERT_EQ(peers.effects.failed, std::vector<Task*>{&one});
  memory::Copy& direct = peers.started();
  EXPECT_EQ(direct.from->node, peers.ram);
  peers.effects.ready.clear();
  peers.land(direct);
  EXPECT_EQ(peers.effects.ready, std::vector<Task*>{&other});
  peers.memory.release(one, memory::Outcome::failed, peers.effects);
  peers.memory.release(other, memory::Outcome::succeeded, peers.effects);
  peers.memory.check(true);
}

// A is to be prefetched to device 1, behind X, and then from there to device 2. Now a task on device 1 needs A at once, and
// device 2 would have it sooner: it must not wait for what waits for it.
TEST(Joins, NobodyWaitsInACircle) {
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
  peers.memory.release(urgent, memory::Outcome::succeeded, peers.effects);
  peers.memory.check(true);
}

// The same prefetches. A task on device 1 lacks all of its memory: both copies are taken back.
TEST(Joins, WhatIsTakenBackTakesBackWhatWouldBeHandedOn) {
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
  peers.memory.release(large, memory::Outcome::succeeded, peers.effects);
  peers.memory.check(true);
}

// But not while a task waits for what is handed on.
TEST(Joins, WhatATaskWaitsForIsNotTakenBackFromUnderIt) {
  Peers peers;
  const DatumId a = peers.in_ram();
  ASSERT_TRUE(peers.prefetch(a, peers.first));
  memory::Copy& prefetch = peers.started();
  Task& other = peers.task(AccessMode::read, {a});
  ASSERT_TRUE(peers.admit(other, peers.second));
  EXPECT_TRUE(peers.take_started().empty());  // it waits for the prefetch, which is under way
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
  peers.memory.release(large, memory::Outcome::succeeded, peers.effects);
  peers.memory.release(other, memory::Outcome::succeeded, peers.effects);
  peers.memory.check(true);
}

// A task on device 3, which has A, changes it while it is under way to device 1 and is to be handed on from there: what lands is old, and
// nobody wants it.
TEST(Joins, WhatWasOvertakenIsNotHandedOn) {
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
  peers.memory.release(writer, memory::Outcome::succeeded, peers.effects);
  EXPECT_EQ(peers.at(a, peers.second), ReplicaState::absent);
  peers.land(prefetch);
  EXPECT_TRUE(peers.take_started().empty());
  EXPECT_EQ(peers.at(a, peers.first), ReplicaState::absent);
  peers.memory.check(true);
}

}  // namespace fairlead::tests
