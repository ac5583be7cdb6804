// Data that are generated on demand, and stored nowhere until a task writes them. RAM over a disk, with a generator link;
// a device behind RAM. The expected bytes are computed by hand.
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {

Machine ram_with_a_device(Bytes ram, Bytes device = 4_MiB) {
  Machine machine;
  machine.topology = out_of_core_topology(1, ram, 1e9, Duration(0));
  machine.topology.workers[0].kind = Machine::kind(0);
  add_device(machine.topology, {.name = "device", .kind = Machine::kind(1), .capacity = device});
  add_generator(machine.topology, 1e9);
  return machine;
}

/// In MiB.
Bytes mebibytes(const World& world, const std::string& wire, bool away_from_home) {
  return crossed(world, wire, away_from_home) / 1_MiB;
}
Bytes made(const World& world) { return mebibytes(world, "generator", true); }
Bytes read(const World& world) { return mebibytes(world, "disk", true); }
Bytes written(const World& world) { return mebibytes(world, "disk", false); }

constexpr auto generated = Place::generated;

}  // namespace

// Two slots, three data that are only read, twice each: each is dropped and generated again.
TEST(Generated, IsGeneratedAgainInsteadOfStored) {
  World world = ram_with_a_device(2_MiB).with_data(
      {{"A", 1_MiB, generated}, {"B", 1_MiB, generated}, {"C", 1_MiB, generated}});
  for (int round = 0; round < 2; ++round)
    for (const char* name : {"A", "B", "C"}) world.submit(reads(name));
  world.run();
  EXPECT_EQ(made(world), 6u);
  EXPECT_EQ(read(world) + written(world), 0u);
  world.flush();
  EXPECT_EQ(written(world), 0u);
}

// Two readers while it is being generated: the second waits for the same copy.
TEST(Generated, IsGeneratedOnceForAllWaitingTasks) {
  Machine machine = ram_with_a_device(4_MiB);
  machine.workers(2);
  World world = machine.with_data({{"A", 1_MiB, generated}});
  for (int reader = 0; reader < 6; ++reader) world.submit(reads("A"));
  world.run();
  EXPECT_EQ(made(world), 1u);
}

// One slot. A is changed, B is only read, A is read again:
//   generated: A, B. Written: A, which is evicted for B. Read: A, which has a stored value now.
TEST(Generated, IsStoredAfterAWrite) {
  World world = ram_with_a_device(1_MiB).with_data({{"A", 1_MiB, generated}, {"B", 1_MiB, generated}});
  world.submit(updates("A"));
  world.run();
  world.submit(reads("B"));
  world.run();
  world.submit(reads("A"));
  world.run();
  EXPECT_EQ(made(world), 2u);
  EXPECT_EQ(written(world), 1u);
  EXPECT_EQ(read(world), 1u);
  EXPECT_TRUE(world.safe_at_home("A"));
}

// A task that replaces the value does not need the former one.
TEST(Generated, IsNotGeneratedForATaskThatOverwritesIt) {
  World world = ram_with_a_device(1_MiB).with_data({{"A", 1_MiB, generated}});
  world.submit(writes("A"));
  world.submit(reads("A"));
  world.run();
  world.flush();
  EXPECT_EQ(made(world), 0u);
  EXPECT_EQ(written(world), 1u);
}

// A device reads it: it is generated in RAM, where a replica stays, and copied over the link.
TEST(Generated, IsCopiedToADeviceAndStaysInRam) {
  World world = ram_with_a_device(2_MiB).with_data({{"A", 1_MiB, generated}});
  world.submit(reads("A"), 1);
  world.run();
  world.submit(reads("A"), 0);
  world.run();
  EXPECT_EQ(made(world), 1u);
  EXPECT_EQ(mebibytes(world, "device", true), 1u);
  EXPECT_EQ(read(world), 0u);
}

// RAM is full of changed data: the datum passes through staging buffers, and does not wait for RAM.
TEST(Generated, IsCopiedToADeviceWhenRamIsFull) {
  World world = ram_with_a_device(1_MiB).with_data({{"A", 1_MiB, generated}, {"R", 1_MiB}});
  world.submit(updates("R"));
  world.run();
  world.submit(reads("A"), 1);
  world.run();
  EXPECT_EQ(world.residency("R"), ReplicaState::valid);
  EXPECT_EQ(made(world), 1u);
  EXPECT_EQ(mebibytes(world, "device", true), 1u);
}

// The device has it: the copy to RAM is faster than generating it again.
TEST(Generated, IsCopiedFromAReplicaIfThatIsFaster) {
  Machine machine = ram_with_a_device(2_MiB);
  machine.topology.links.back().bytes_per_second = 1e8;  // generated for the device
  for (LinkSpec& link : machine.topology.links)
    if (link.is_generator) link.bytes_per_second = 1e8;
  World world =
      machine.with_data({{"A", 1_MiB, generated}, {"B", 1_MiB, generated}, {"C", 1_MiB, generated}});
  world.submit(reads("A"), 1);
  world.run();
  world.submit(reads("B", "C"), 0);  // A is evicted from RAM
  world.run();
  ASSERT_EQ(world.residency("A"), ReplicaState::absent);
  world.submit(reads("A"), 0);
  world.run();
  EXPECT_EQ(made(world), 3u);
  EXPECT_EQ(mebibytes(world, "device", false), 1u);
}

// The generator throws: it is not called again, and only tasks that need the value fail.
TEST(Generated, FailsItsReadersAfterOneAttempt) {
  World world = ram_with_a_device(2_MiB)
                    .where_copies_fail([](const memory::Copy& copy) { return copy.generator != nullptr; })
                    .with_data({{"A", 1_MiB, generated}, {"B", 1_MiB}});
  const auto reader = world.submit(reads("A")), writer = world.submit(updates("A")),
             other = world.submit(reads("B"));
  world.run();
  const auto over = world.submit(writes("A")), after = world.submit(reads("A"));
  world.run();
  EXPECT_EQ(world.ending(reader), Ending::failed);
  EXPECT_EQ(world.ending(writer), Ending::failed);
  EXPECT_EQ(world.ending(other), Ending::done);
  EXPECT_EQ(world.ending(over), Ending::done);
  EXPECT_EQ(world.ending(after), Ending::done);
  const auto tries = std::ranges::count_if(world.copies(), [](const World::CopyEvent& copy) {
    return copy.datum == "A" && copy.what == World::CopyEvent::failed;
  });
  EXPECT_EQ(tries, 2);  // one for each task
}

// Its tasks are cancelled while it is being generated: the copy finishes, and no task waits in vain.
TEST(Generated, MayBeCancelledWhileItIsGenerated) {
  World world = ram_with_a_device(2_MiB).with_data({{"A", 1_MiB, generated}});
  const auto first = world.submit(reads("A")), second = world.submit(updates("A"));
  world.run_until(copy_started("A"));
  world.cancel();
  world.run();
  EXPECT_EQ(world.ending(first), Ending::done);  // it had been admitted
  EXPECT_EQ(world.ending(second), Ending::cancelled);
}

// Even with free memory and an idle link, a datum is generated only when a task needs it.
TEST(Generated, IsNotPrefetched) {
  Machine machine = ram_with_a_device(8_MiB);
  machine.pipelines_of(1).scheduled_by("lws");
  World world = machine.with_data({{"A", 1_MiB}, {"B", 1_MiB, generated}, {"C", 1_MiB}});
  for (const char* name : {"A", "B", "C"}) world.submit(reads(name));
  world.run();
  std::vector<std::string> prefetched;
  for (const World::CopyEvent& copy : world.copies())
    if (copy.cause == memory::Cause::prefetch && copy.what == World::CopyEvent::landed)
      prefetched.push_back(copy.datum);
  EXPECT_EQ(prefetched, std::vector<std::string>{"C"});
}

}  // namespace fairlead::tests
