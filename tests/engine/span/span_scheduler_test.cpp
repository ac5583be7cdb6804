// Which workers are reserved for tasks of several workers, and when, in simulated runs. A task takes 100 us of one
// worker; each world has one memory node.
#include <gmock/gmock.h>

#include <array>

#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// Data in user memory, which need no copy.
World with_workers(std::size_t count) {
  return one_device(8_MiB).workers(count).with_data({{"A", 4096, Place::in_user_memory},
                                                     {"B", 4096, Place::in_user_memory},
                                                     {"C", 4096, Place::in_user_memory},
                                                     {"D", 4096, Place::in_user_memory},
                                                     {"E", 4096, Place::in_user_memory}});
}

constexpr Time at(Duration time) { return Time{} + time; }

}  // namespace

TEST(SpanScheduler, TasksOfAllWorkersRunOneAfterAnother) {
  World world = with_workers(4);
  const auto first = world.submit_wide(updates("A"), all_workers);
  const auto second = world.submit_wide(updates("B"), 4);
  world.run();
  EXPECT_EQ(world.started_at(first), at(0us));
  EXPECT_EQ(world.started_at(second), at(25us));
  EXPECT_EQ(world.now(), at(50us));
}

TEST(SpanScheduler, TwoTasksOfTwoWorkersRunConcurrentlyOnFour) {
  World world = with_workers(4);
  const auto first = world.submit_wide(updates("A"), 2);
  const auto second = world.submit_wide(updates("B"), 2);
  const auto third = world.submit_wide(updates("C"), 2);
  world.run();
  EXPECT_EQ(world.started_at(first), at(0us));
  EXPECT_EQ(world.started_at(second), at(0us));
  EXPECT_EQ(world.started_at(third), at(50us));
}

// Each needs three of four workers: they do not block each other with two each.
TEST(SpanScheduler, TwoTasksDoNotReserveHalfOfTheWorkersEach) {
  World world = with_workers(4);
  const auto first = world.submit_wide(updates("A"), 3);
  const auto second = world.submit_wide(updates("B"), 3);
  world.run();
  EXPECT_EQ(world.ending(first), Ending::done);
  EXPECT_EQ(world.ending(second), Ending::done);
  EXPECT_EQ(world.started_at(second) - world.started_at(first), Duration(33'333));
}

TEST(SpanScheduler, WaitsOnlyForRunningTasks) {
  World world = with_workers(2);
  const auto running = world.submit(updates("A"));
  world.run_until(task_started(running));
  const auto wide = world.submit_wide(updates("B"), all_workers);
  const auto later = world.submit(updates("C"));
  world.run();
  EXPECT_EQ(world.started_at(wide), at(100us));
  EXPECT_EQ(world.started_at(later), at(150us));
}

// Three tasks are launched on each worker; those that have not started are recalled and run afterwards.
TEST(SpanScheduler, StagedTasksOfAReservedWorkerRunAfterwards) {
  Machine machine = one_device(8_MiB).workers(2).pipelines_of(4);
  World world = machine.with_data({{"A", 4096, Place::in_user_memory}, {"B", 4096, Place::in_user_memory}});
  std::array<World::TaskNumber, 8> narrow;
  for (auto& task : narrow) task = world.submit(reads("A"));
  const auto wide = world.submit_wide(updates("B"), all_workers);
  world.run();
  for (const auto task : narrow) EXPECT_EQ(world.ending(task), Ending::done);
  EXPECT_EQ(world.ending(wide), Ending::done);
  EXPECT_EQ(world.now(), at(450us));  // no worker was idle
}

// Two of four workers run one task; the others run other tasks.
TEST(SpanScheduler, OtherWorkersTakeTheTasksOfReservedWorkers) {
  Machine machine = one_device(8_MiB).workers(3).pipelines_of(4);
  World world = machine.with_data({{"A", 4096, Place::in_user_memory}, {"B", 4096, Place::in_user_memory}});
  const auto wide = world.submit_wide(updates("B"), 2);
  world.run_until(task_started(wide));
  std::array<World::TaskNumber, 3> narrow;
  for (auto& task : narrow) task = world.submit(reads("A"));
  world.run();
  EXPECT_EQ(world.started_at(narrow[0]), at(0us));
  EXPECT_EQ(world.now(), at(150us));
}

// It leaves while it is idle: its core counts, but another worker leads.
TEST(SpanScheduler, AnAbsentWorkerCountsButDoesNotLead) {
  World world = with_workers(3);
  world.lose_worker(WorkerId{0});
  const auto wide = world.submit_wide(updates("A"), 3);
  world.run();
  EXPECT_EQ(world.ending(wide), Ending::done);
  EXPECT_EQ(world.now() - at(0us), Duration(33'333));
}

TEST(SpanScheduler, StopsGatheringWhenTheFlowIsCancelled) {
  World world = with_workers(2);
  const auto running = world.submit(updates("A"));
  world.run_until(task_started(running));
  const auto wide = world.submit_wide(updates("B"), all_workers, 1);
  const auto follows = world.submit(reads("B"), 0, 1);
  const auto other = world.submit(updates("C"));
  world.cancel(1);
  world.run();
  EXPECT_EQ(world.ending(wide), Ending::cancelled);
  EXPECT_EQ(world.ending(follows), Ending::cancelled);
  EXPECT_EQ(world.ending(other), Ending::done);
}

TEST(SpanScheduler, AFailedTaskReleasesItsWorkers) {
  World world = with_workers(2);
  const auto wide = world.submit_wide(updates("A"), all_workers);
  world.fail(wide);
  const auto other = world.submit(updates("B"));
  world.run();
  EXPECT_EQ(world.ending(wide), Ending::failed);
  EXPECT_EQ(world.ending(other), Ending::done);
}

TEST(SpanScheduler, ReportsTheMissingWorkers) {
  World world = one_device(8_MiB).workers(3).with_data({{"A", 4096}, {"B", 4096}});
  world.hang(world.submit(updates("A")));
  world.submit_wide(updates("B"), all_workers);
  EXPECT_THAT(world.situation_when_stalled(10s).text(),
              AllOf(HasSubstr("(B), submitted at"), HasSubstr("waits for 1 of 3 workers"),
                    HasSubstr("has (A), submitted at")));
}

TEST(SpanScheduler, ReportsTheTaskThatUsesTheWorkers) {
  World world = one_device(8_MiB).workers(2).with_data({{"A", 4096}, {"B", 4096}});
  world.hang(world.submit_wide(updates("A"), all_workers));
  world.submit_wide(updates("B"), 2);
  world.submit(reads("B"));
  EXPECT_THAT(world.situation_when_stalled(10s).text(),
              AllOf(HasSubstr("(B), submitted at"), HasSubstr("waits until it can have 2 workers"),
                    HasSubstr("runs on 2 of them")));
}

TEST(SpanScheduler, ReportsATaskThatWaitsForAReservedWorker) {
  World world = one_device(8_MiB).workers(2).with_data({{"A", 4096}, {"B", 1_MiB}});
  world.hang(world.submit_wide(updates("A"), all_workers));
  world.submit(reads("B"));
  EXPECT_THAT(world.situation_when_stalled(10s).text(),
              AllOf(HasSubstr("(B), submitted at"), HasSubstr("which a task of several workers uses"),
                    HasSubstr("(A), submitted at")));
}

}  // namespace fairlead::tests
