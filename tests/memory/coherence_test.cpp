// Replicas of one datum on several nodes, under critical interleavings.
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {
constexpr NodeId user{0}, disk{1};
}

// The remaining reader of a copy in flight must still get it if the task that requested it is cancelled.
TEST(Coherence, ASecondReaderKeepsACopyWhenTheFirstIsCancelled) {
  World world = one_device(8_MiB).workers(2).with_data({{"A", 4_MiB}});
  world.submit(reads("A"), 0, 1);
  const auto second = world.submit(reads("A"), 0, 2);
  world.run_until(copy_started("A"));
  world.cancel(1);
  world.run();
  EXPECT_EQ(world.ending(second), Ending::done);
  EXPECT_EQ(world.bytes_moved("A"), 4_MiB);  // not copied twice
}

// Device 0 is evicting A when device 1 writes it; the stale replica must not be used again.
TEST(Coherence, AStaleReplicaThatIsBeingEvictedIsNotReused) {
  World world =
      devices({2_MiB, 2_MiB}).slow(disk, Machine::device(0), 1e7).with_data({{"A", 2_MiB}, {"B", 1_MiB}});
  world.submit(updates("A"));
  world.run();
  world.submit(reads("B"));
  world.run_until(copy_started("A", disk));
  const auto writer = world.submit(updates("A"), 1);
  world.run_until(task_over(writer));
  EXPECT_EQ(world.residency("A", 0), ReplicaState::evicting);
  const auto reader = world.submit(reads("A"), 0);
  world.run();
  EXPECT_EQ(world.ending(reader), Ending::done);
  world.flush();
  EXPECT_TRUE(world.safe_at_home("A"));
}

// The reader uses the home in place, and waits for a write-back that has a stale version when it arrives.
TEST(Coherence, AReaderThatWaitsForAnOvertakenWriteBackGetsTheNewVersion) {
  World world = devices({2_MiB, 2_MiB, 2_MiB})
                    .slow(user, Machine::device(1), 1e7)
                    .with_data({{"U", 2_MiB, Place::in_user_memory}, {"B", 1_MiB}});
  world.submit(updates("U"), 1);
  world.run();
  world.submit(reads("B"), 1);
  world.run_until(copy_started("U", user));
  const auto writer = world.submit(updates("U"), 2);
  world.run_until(task_over(writer));
  const auto reader = world.submit(reads("U"), 0);
  world.run();
  EXPECT_EQ(world.ending(reader), Ending::done);
  EXPECT_EQ(world.landed("U", user), 2u);
}

// RAM's workers use U in its home. After a device has changed it, its space there is valid, but its value is stale until
// it is requested.
TEST(Coherence, AHomeThatIsUsedInPlaceIsStaleAfterADeviceHasWritten) {
  Machine machine;
  machine.topology = out_of_core_topology(1, 4_MiB, 1e9, Duration(0));
  machine.topology.workers[0].kind = Machine::kind(0);
  add_device(machine.topology, {.name = "device", .kind = Machine::kind(1), .capacity = 4_MiB});
  const NodeId home = machine.topology.user_memory(), ram = machine.topology.host(),
               device = machine.topology.devices().front();
  constexpr DatumId datum{0};
  World world = machine.with_data({{"U", 2_MiB, Place::in_user_memory}});
  EXPECT_TRUE(world.memory().state().has_newest(datum, ram));
  EXPECT_FALSE(world.memory().state().has_newest(datum, device));

  world.submit(updates("U"), 1);
  world.run();
  EXPECT_TRUE(world.memory().state().has_newest(datum, device));
  EXPECT_FALSE(world.memory().state().has_newest(datum, ram));
  EXPECT_EQ(world.memory().residency(datum, ram), ReplicaState::valid);
  EXPECT_GT(world.memory().state().transfer_time(datum, ram), Duration{});

  world.submit(reads("U"), 0);
  world.run_until(copy_started("U", home));
  EXPECT_TRUE(world.memory().state().has_newest(datum, ram));  // in flight
  EXPECT_EQ(world.memory().state().transfer_time(datum, ram), Duration{});
  world.run();
  EXPECT_TRUE(world.memory().state().has_newest(datum, ram));
  EXPECT_TRUE(world.memory().state().has_newest(datum, device));

  world.submit(updates("U"), 0);
  world.run();
  EXPECT_FALSE(world.memory().state().has_newest(datum, device));
}

// Device 0 has the only newest replica, and its copy to device 1 is in flight: dropping it would lose the value.
TEST(Coherence, TheLastValidReplicaStaysWhileItsCopyIsInFlight) {
  World world = devices({2_MiB, 2_MiB})
                    .slow(Machine::device(0), Machine::device(1), 1e7)
                    .with_data({{"A", 2_MiB}, {"B", 2_MiB}});
  world.submit(updates("A"));
  world.run();
  const auto reader = world.submit(reads("A"), 1);
  world.run_until(copy_started("A", Machine::device(1)));
  const auto other = world.submit(reads("B"), 0);
  EXPECT_EQ(world.residency("A", 0), ReplicaState::valid);
  world.run();
  EXPECT_EQ(world.ending(reader), Ending::done);
  EXPECT_EQ(world.ending(other), Ending::done);
  world.flush();
  EXPECT_TRUE(world.safe_at_home("A"));
}

TEST(Coherence, AFlushWritesBackAVersionNewerThanTheWriteBackInFlight) {
  World world =
      devices({2_MiB, 2_MiB}).slow(disk, Machine::device(0), 1e7).with_data({{"A", 2_MiB}, {"B", 1_MiB}});
  world.submit(updates("A"));
  world.run();
  world.submit(reads("B"));
  world.run_until(copy_started("A", disk));
  world.run_until(task_over(world.submit(updates("A"), 1)));
  world.flush();
  EXPECT_TRUE(world.safe_at_home("A"));
  world.run();
}

TEST(Coherence, ADatumIsRemovedOnce) {
  World world = one_device(2_MiB).with_data({{"A", 1_MiB}});
  world.remove("A");
  EXPECT_THROW(world.memory().try_remove(DatumId{0}), Error);
}

// Threads may query the datum after its removal.
TEST(Coherence, ADatumIsRemovedOnlyWhenNoCopyOfItIsInFlight) {
  World world = one_device(2_MiB).slow(disk, Machine::device(0), 1e7).with_data({{"A", 2_MiB}, {"B", 1_MiB}});
  world.submit(updates("A"));
  world.run();
  world.submit(reads("B"));
  world.run_until(copy_started("A", disk));
  world.remove("A");
  EXPECT_EQ(world.landed("A", disk), 1u);
  world.run();
}

}  // namespace fairlead::tests
