// Which tasks are admitted to memory, and which data are evicted for them.
#include "whole/world.hpp"

namespace fairlead::tests {

// Two waiting tasks must not evict each other's data: neither would ever run.
TEST(Admission, TasksThatEachNeedAllMemoryRunOneAfterAnother) {
  World world = one_device(3_MiB).workers(2).with_data(
      {{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}, {"D", 1_MiB}, {"E", 1_MiB}, {"F", 1_MiB}});
  world.submit(reads("A", "B", "C"));
  world.submit(reads("D", "E", "F"));
  world.run();
  EXPECT_EQ(world.copies().size(), 12u);  // six started, six finished: no datum was copied twice
}

TEST(Admission, ATaskThatWaitsForMemoryHoldsNone) {
  World world = one_device(3_MiB).workers(2).with_data({{"A", 2_MiB}, {"B", 1_MiB}, {"C", 1_MiB}});
  const auto first = world.submit(reads("A"));
  world.run_until(task_started(first));
  const auto second = world.submit(reads("B", "C"));
  EXPECT_FALSE(world.started(second));
  EXPECT_EQ(world.device(0).pinned_bytes, 2_MiB);
  world.run();
  EXPECT_EQ(world.ending(second), Ending::done);
}

// Many small tasks whose datum is resident, and one that needs all memory.
TEST(Admission, OthersPassAWaitingTaskAtMostSixtyFourTimes) {
  World world = one_device(4_MiB).workers(2).pipelines_of(4).with_data(
      {{"small", 1_MiB}, {"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}, {"D", 1_MiB}});
  for (int i = 0; i < 10; ++i) world.submit(reads("small"));
  const auto large = world.submit(reads("A", "B", "C", "D"));
  for (int i = 0; i < 300; ++i) world.submit(reads("small"));
  world.run();
  const auto& starts = world.starts();
  const auto position = std::ranges::find(starts, large) - starts.begin();
  EXPECT_GT(position, 12);            // some passed, because they needed no space,
  EXPECT_LE(position, 10 + 64 + 16);  // but at most that many, and those that ran before it
}

// Clean data are dropped at once; no more dirty data than needed are written back.
TEST(Admission, NoMoreDataThanNeededAreEvicted) {
  World world = one_device(4_MiB).with_data(
      {{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}, {"D", 1_MiB}, {"E", 1_MiB}, {"F", 1_MiB}});
  world.submit(updates("A", "B", "C", "D"));
  world.run();
  world.submit(reads("E", "F"));
  world.run();
  EXPECT_EQ(world.device(0).evictions, 2u);
  EXPECT_EQ(world.landed("A", NodeId{1}) + world.landed("B", NodeId{1}), 2u);  // the oldest
  EXPECT_EQ(world.landed("C", NodeId{1}) + world.landed("D", NodeId{1}), 0u);
}

TEST(Admission, ATaskKeepsItsResidentData) {
  World world = one_device(2_MiB).with_data({{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}});
  world.submit(reads("A"));
  world.submit(reads("B"));
  world.run();
  world.submit(reads("A", "C"));  // A is the least recently used, but stays
  world.run();
  EXPECT_EQ(world.landed("A"), 1u);
}

// B lies in the middle: the two free ranges are not contiguous, so E does not fit.
TEST(Admission, TheArenaDrainsWhenOnlyFragmentationIsTheObstacle) {
  World world = one_device(3_MiB).with_data({{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}, {"E", 2_MiB}});
  world.submit(reads("A", "B", "C"));
  world.run();
  const auto task = world.submit(reads("B", "E"));
  world.run();
  EXPECT_EQ(world.ending(task), Ending::done);
  EXPECT_EQ(world.landed("B"), 2u);
}

TEST(Admission, CommutativeTasksTakeTheirDataAllOrNone) {
  World world = one_device(4_MiB).workers(3).with_data({{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}});
  for (int i = 0; i < 10; ++i) {
    world.submit(adds_to("A", "B"));
    world.submit(adds_to("B", "C"));
    world.submit(adds_to("C", "A"));
  }
  world.run();  // no deadlock; the values would show two concurrent tasks
  EXPECT_EQ(world.starts().size(), 30u);
}

// The first worker has picked the second task, which may use only half of the memory there.
TEST(Admission, AnIdleWorkerTakesOverATaskThatWaitsBehindAnother) {
  World world = one_device(4_MiB).workers(2).with_data({{"A", 2_MiB}, {"B", 2_MiB}});
  world.submit(reads("A"));
  world.submit(reads("B"));
  EXPECT_TRUE(copy_started("B")(world));
  world.run();
}

TEST(Admission, ACancelledWaitingTaskReleasesItsClaim) {
  World world =
      one_device(2_MiB).workers(2).pipelines_of(1).with_data({{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}});
  world.submit(reads("A"));
  const auto large = world.submit(reads("B", "C"), 0, 1);
  world.run_until(task_started(0));
  EXPECT_NE(world.device(0).claimant, nullptr);
  world.cancel(1);
  const auto small = world.submit(reads("B"));
  world.run();
  EXPECT_EQ(world.ending(large), Ending::cancelled);
  EXPECT_EQ(world.ending(small), Ending::done);
}

}  // namespace fairlead::tests
