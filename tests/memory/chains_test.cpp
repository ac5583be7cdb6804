// Copies that cross two wires: disk to device, device to device, and home again, through RAM. Every byte
// below is worked out by hand.
#include "memory/bare.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {

/// RAM and two devices without a wire between them; slots of 1 MiB.
Machine ram_and_two_devices(Bytes ram, Bytes device) {
  Machine machine;
  machine.topology = out_of_core_topology(1, ram, 1e9, Duration(0));
  machine.topology.workers[0].kind = Machine::kind(0);
  for (std::size_t i = 1; i <= 2; ++i)
    add_device(machine.topology,
               {.name = "device " + std::to_string(i), .kind = Machine::kind(i), .capacity = device});
  return machine;
}

}  // namespace

// A comes from the disk to device 1 and stays in RAM on the way; device 2 has it from there.
//   disk: 1 MiB read. Wires of device 1 and device 2: 1 MiB each.
TEST(TwoLinkTransfers, WhatPassesRamIsReadFromDiskOnce) {
  World world = ram_and_two_devices(4_MiB, 4_MiB).with_data({{"A", 1_MiB}});
  world.submit(reads("A"), 1);
  world.run();
  EXPECT_EQ(world.residency("A", 0), ReplicaState::valid);
  world.submit(reads("A"), 2);
  world.run();
  EXPECT_EQ(crossed(world, "disk", true), 1_MiB);
  EXPECT_EQ(crossed(world, "device 1", true), 1_MiB);
  EXPECT_EQ(crossed(world, "device 2", true), 1_MiB);
  EXPECT_EQ(crossed(world, "device 1", false), 0u);
}

// Device 1 changes A, device 2 reads it: out over one wire, in over the other, and nothing from or to the
// disk but the first read and the flush.
TEST(TwoLinkTransfers, WhatADeviceChangedReachesAnotherThroughRam) {
  World world = ram_and_two_devices(4_MiB, 4_MiB).with_data({{"A", 1_MiB}});
  world.submit(updates("A"), 1);
  world.submit(reads("A"), 2);
  world.run();
  EXPECT_EQ(crossed(world, "device 1", true), 1_MiB);
  EXPECT_EQ(crossed(world, "device 1", false), 1_MiB);
  EXPECT_EQ(crossed(world, "device 2", true), 1_MiB);
  EXPECT_EQ(crossed(world, "disk", false), 0u);
  world.flush();
  EXPECT_TRUE(world.safe_at_home("A"));
  EXPECT_EQ(crossed(world, "disk", true), 1_MiB);
  EXPECT_EQ(crossed(world, "disk", false), 1_MiB);
  EXPECT_EQ(crossed(world, "device 1", false), 1_MiB);  // it went home from RAM, where it had stayed
}

// A device of two slots changes A, B, C in turn. What leaves it stays in RAM: no byte goes to the disk.
//   disk: 3 MiB read, none written. Wire: 3 MiB + A again in; A and, for A, B out.
TEST(TwoLinkTransfers, WhatLeavesADeviceStaysInRamIfThatHasSpace) {
  World world = ram_and_two_devices(8_MiB, 2_MiB).with_data({{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}});
  for (const char* name : {"A", "B", "C", "A"}) {
    world.submit(updates(name), 1);
    world.run();
  }
  EXPECT_EQ(crossed(world, "disk", true), 3_MiB);
  EXPECT_EQ(crossed(world, "disk", false), 0u);
  EXPECT_EQ(crossed(world, "device 1", true), 4_MiB);
  EXPECT_EQ(crossed(world, "device 1", false), 2_MiB);
}

// The same with RAM full of what a task there holds: what leaves goes to the disk through transit buffers,
// and does not wait for RAM.
TEST(TwoLinkTransfers, WhatLeavesADeviceGoesHomeIfRamIsFull) {
  World world =
      ram_and_two_devices(1_MiB, 2_MiB).with_data({{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}, {"R", 1_MiB}});
  world.submit(updates("R"), 0);  // in RAM, changed: it cannot be dropped at once
  world.run();
  for (const char* name : {"A", "B", "C", "A"}) {
    world.submit(updates(name), 1);
    world.run();
  }
  EXPECT_EQ(crossed(world, "disk", true), 5_MiB);   // R, A, B, C, A
  EXPECT_EQ(crossed(world, "disk", false), 2_MiB);  // A and B, to make room
  EXPECT_EQ(world.residency("R", 0), ReplicaState::valid);
}

// Of the copies in RAM and on another device, the one that comes sooner is taken: over one wire, not two.
TEST(TwoLinkTransfers, TheNearerSourceIsTaken) {
  World world = ram_and_two_devices(4_MiB, 4_MiB).with_data({{"A", 1_MiB}});
  world.submit(reads("A"), 2);
  world.submit(reads("A"), 0);
  world.run();
  world.submit(reads("A"), 1);
  world.run();
  EXPECT_EQ(crossed(world, "device 2", false), 0u);
  EXPECT_EQ(crossed(world, "disk", true), 1_MiB);
}

// Devices with a wire of their own use it.
TEST(TwoLinkTransfers, PeersDoNotGoThroughRam) {
  Machine machine = ram_and_two_devices(4_MiB, 4_MiB);
  join_peers(machine.topology, Machine::device(1), Machine::device(2), 100e9, Duration(0));
  World world = machine.with_data({{"A", 1_MiB}});
  world.submit(updates("A"), 1);
  world.submit(reads("A"), 2);
  world.run();
  EXPECT_EQ(crossed(world, "device 1 - device 2", true), 1_MiB);
  EXPECT_EQ(crossed(world, "device 1", false), 0u);
  EXPECT_EQ(crossed(world, "device 2", true), 0u);
}

// What is kept on the way only uses space that nobody waits for: a task in RAM takes it back.
TEST(TwoLinkTransfers, ATaskInRamTakesBackWhatPassedThere) {
  World world =
      ram_and_two_devices(2_MiB, 4_MiB).with_data({{"A", 1_MiB}, {"B", 1_MiB}, {"R", 1_MiB}, {"S", 1_MiB}});
  world.submit(reads("A"), 1);
  world.submit(reads("B"), 1);
  const auto both = world.submit(updates("R", "S"), 0);
  world.run();
  EXPECT_EQ(world.ending(both), Ending::done);
  EXPECT_EQ(world.residency("R", 0), ReplicaState::valid);
  EXPECT_EQ(world.residency("A", 1), ReplicaState::valid);
}

// A comes to device 1 out of RAM when a task begins to change device 2's copy of it, and the wire fails: that copy of it
// may not be read now.
TEST(TwoLinkTransfers, AFailedCopyIsNotTriedAgainFromOneThatATaskIsChanging) {
  for (const bool is_changed : {false, true}) {
    Machine machine = ram_and_two_devices(4_MiB, 4_MiB);
    join_peers(machine.topology, Machine::device(1), Machine::device(2), 1e8, Duration(0));
    Bare bare(machine.topology);
    const DatumId a = bare.datum(1_MiB);
    const NodeId ram = bare.topology.host(), elsewhere = Machine::device(2);
    for (const NodeId node : {ram, elsewhere}) bare.run(bare.task(AccessMode::read, {a}), node);
    ASSERT_TRUE(bare.prefetch(a, Machine::device(1)));
    memory::Copy& copy = *bare.take_started().at(0);
    ASSERT_EQ(copy.from->node, ram);
    Task& writer = bare.task(AccessMode::read_write, {a});
    if (is_changed) {
      ASSERT_TRUE(bare.admit(writer, elsewhere));
      ASSERT_EQ(writer.pending_copies, 0);  // nothing reads the copy that it changes
    }
    bare.memory.landed(copy, false, bare.effects);
    const auto again = bare.take_started();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0]->from->node, is_changed ? ram : elsewhere);
    bare.memory.landed(*again[0], true, bare.effects);
    if (is_changed) bare.memory.release(writer, memory::Outcome::succeeded, bare.effects);
  }
}

}  // namespace fairlead::tests
