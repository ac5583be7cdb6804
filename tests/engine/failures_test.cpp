// The consequences of a failed task, copy or write-back, and of a cancellation.
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {
constexpr NodeId disk{1};
/// Fails the given number of copies of the first datum to a node.
auto first_copies_to(NodeId node, int times) {
  return [=](const memory::Copy& copy) mutable {
    return copy.datum == DatumId{0} && copy.to->node == node && times-- > 0;
  };
}
}  // namespace

TEST(Failures, AFailedTaskCancelsTheTasksThatNeedItsResults) {
  World world = one_device(4_MiB).with_data({{"A", 1_MiB}, {"B", 1_MiB}, {"C", 1_MiB}});
  const auto bad = world.submit(updates("A"));
  const auto needs_it = world.submit(reads("A") + updates("B"));
  const auto needs_that = world.submit(reads("B"));
  const auto apart = world.submit(updates("C"));
  world.fail(bad);
  world.run();
  EXPECT_EQ(world.ending(bad), Ending::failed);
  EXPECT_EQ(world.ending(needs_it), Ending::cancelled);
  EXPECT_EQ(world.ending(needs_that), Ending::cancelled);
  EXPECT_EQ(world.ending(apart), Ending::done);
}

TEST(Failures, ATaskThatReplacesAPoisonedDatumMakesItValid) {
  World world = one_device(4_MiB).with_data({{"A", 1_MiB}});
  world.fail(world.submit(updates("A")));
  const auto replaces = world.submit(writes("A"));
  const auto reader = world.submit(reads("A"));
  world.run();
  EXPECT_EQ(world.ending(replaces), Ending::done);
  EXPECT_EQ(world.ending(reader), Ending::done);
  world.flush();
  EXPECT_TRUE(world.safe_at_home("A"));
}

TEST(Failures, ACopyThatFailsOnceIsRetried) {
  World world =
      one_device(4_MiB).where_copies_fail(first_copies_to(Machine::device(0), 1)).with_data({{"A", 1_MiB}});
  const auto task = world.submit(reads("A"));
  world.run();
  EXPECT_EQ(world.ending(task), Ending::done);
}

TEST(Failures, AFailedCopyIsRetriedFromAnotherSource) {
  World world = devices({4_MiB, 4_MiB})
                    .where_copies_fail([](const memory::Copy& copy) {
                      return copy.from->node == disk && copy.to->node == Machine::device(1);
                    })
                    .with_data({{"A", 1_MiB}});
  world.submit(reads("A"), 0);
  world.run();
  const auto task = world.submit(reads("A"), 1);
  world.run();
  EXPECT_EQ(world.ending(task), Ending::done);
}

TEST(Failures, ACopyThatFailsTwiceFailsItsTaskWithTheNameOfTheDatum) {
  World world =
      one_device(4_MiB).where_copies_fail(first_copies_to(Machine::device(0), 2)).with_data({{"A", 1_MiB}});
  world.memory().name_by([](DatumId id) { return "\"A\", which is " + std::to_string(index(id)); });
  const auto task = world.submit(reads("A"));
  world.run();
  EXPECT_EQ(world.ending(task), Ending::failed);
  EXPECT_THAT(world.error_of(task), testing::AllOf(testing::HasSubstr("copying \"A\", which is 0 ("),
                                                   testing::HasSubstr("from disk to device 0 failed")));
}

// The newest value exists only in the cache: it stays there, and the run stops.
TEST(Failures, AFailedWriteBackKeepsTheReplicaAndStopsTheRun) {
  World world =
      one_device(2_MiB).where_copies_fail(first_copies_to(disk, 100)).with_data({{"A", 2_MiB}, {"B", 1_MiB}});
  world.submit(updates("A"));
  world.run();
  const auto other = world.submit(reads("B"));
  try {
    world.run();
    FAIL() << "the run went on";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("writing datum 0 home failed"));
  }
  EXPECT_EQ(world.ending(other), Ending::cancelled);
  EXPECT_EQ(world.residency("A"), ReplicaState::valid);
}

TEST(Failures, UnstartedTasksOfACancelledFlowDoNotRun) {
  World world = one_device(4_MiB).with_data({{"A", 1_MiB}});
  const auto first = world.submit(updates("A"));
  const auto second = world.submit(updates("A"));
  world.run_until(task_started(first));
  world.cancel();
  world.run();
  EXPECT_EQ(world.ending(first), Ending::done);
  EXPECT_EQ(world.ending(second), Ending::cancelled);
}

// The caller of cancel() may be reporting the failure of another rank, and cannot handle a second failure.
TEST(Failures, AFlowOfAStoppedRunCanBeCancelled) {
  World world = one_device(4_MiB).with_data({{"A", 1_MiB}});
  const auto task = world.submit(updates("A"));
  world.stop(std::make_exception_ptr(std::runtime_error("there is no memory")));
  world.cancel();
  EXPECT_EQ(world.ending(task), Ending::none);
  EXPECT_THROW(world.run(), std::runtime_error);
}

}  // namespace fairlead::tests
