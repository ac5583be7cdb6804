// Copies over two links: disk to device, device to device, and write-backs, through RAM. The expected bytes are computed
// by hand.
#include "memory/bare.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {

/// RAM and two devices without a link between them; slots of 1 MiB.
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

// A is copied from the disk to device 1, and a replica stays in RAM; device 2 gets it from there.
//   disk: 1 MiB read. Links of device 1 and device 2: 1 MiB each.
TEST(TwoLinkTransfers, ADatumThatPassesRamIsReadFromDiskOnce) {
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

// Device 1 changes A, device 2 reads it: out over one link, in over the other. The disk has only the first read and the
// flush.
TEST(TwoLinkTransfers, AChangedDatumIsCopiedToAnotherDeviceThroughRam) {
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
  EXPECT_EQ(crossed(world, "device 1", false), 1_MiB);  // written back from RAM, where a replica had stayed
}

// A device of two slots changes A, B, C in turn. Evicted data stay in RAM: none is written to the disk.
//   disk: 3 MiB read, none written. Link: 3 MiB + A again in; A and, for A, B out.
TEST(TwoLinkTransfers, DataEvictedFromADeviceStayInRamIfItHasSpace) {
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

// RAM is full of a running task's data: evicted data go to the disk through staging buffers, and do not wait for RAM.
TEST(TwoLinkTransfers, DataEvictedFromADeviceAreWrittenBackIfRamIsFull) {
  World world =
      ram_and_two_devices(1_MiB, 2_MiB).with_data({{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}, {"R", 1_MiB}});
  world.submit(updates("R"), 0);  // in RAM, changed: it cannot be dropped at once
  world.run();
  for (const char* name : {"A", "B", "C", "A"}) {
    world.submit(updates(name), 1);
    world.run();
  }
  EXPECT_EQ(crossed(world, "disk", true), 5_MiB);   // R, A, B, C, A
  EXPECT_EQ(crossed(world, "disk", false), 2_MiB);  // A and B, to free memory
  EXPECT_EQ(world.residency("R", 0), ReplicaState::valid);
}

// Of the replicas in RAM and on another device, the one with the shorter copy is the source: over one link, not two.
TEST(TwoLinkTransfers, TheNearerSourceIsUsed) {
  World world = ram_and_two_devices(4_MiB, 4_MiB).with_data({{"A", 1_MiB}});
  world.submit(reads("A"), 2);
  world.submit(reads("A"), 0);
  world.run();
  world.submit(reads("A"), 1);
  world.run();
  EXPECT_EQ(crossed(world, "device 2", false), 0u);
  EXPECT_EQ(crossed(world, "disk", true), 1_MiB);
}

// Devices with a peer link use it.
TEST(TwoLinkTransfers, PeersDoNotCopyThroughRam) {
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

// Staged replicas use only space that no task waits for: a task in RAM evicts them.
TEST(TwoLinkTransfers, ATaskInRamEvictsStagedReplicas) {
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

// The copy of A from RAM to device 1 fails while a task is changing device 2's replica of A: that replica must not be
// read now.
TEST(TwoLinkTransfers, AFailedCopyIsNotRetriedFromAReplicaThatATaskIsChanging) {
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
    if (is_changed) bare.memory.release(writer, memory::TaskOutcome::succeeded, bare.effects);
  }
}

}  // namespace fairlead::tests
