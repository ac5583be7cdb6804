// Common to all placement policies: tasks run on the device that owns the data they write.
#include <gmock/gmock.h>

#include "schedule/placed.hpp"

namespace fairlead::schedule {

using testing::ElementsAre;

TEST(OwnerCompute, ADatumIsPlacedWhenItsFirstWriterIsReady) {
  PlacedWorld world(2, "owner-load");
  world.begin();
  world.busy({1, 0});
  EXPECT_EQ(world.place({"first", {}, 1, 0, {}, {"C"}}), 1);  // nothing has been loaded or written
  world.busy({0, 100});
  EXPECT_EQ(world.place({"second", {}, 1, 0, {"C"}}), 1);
}

TEST(OwnerCompute, ACopyForARemoteReaderDoesNotEndOwnership) {
  PlacedWorld world(2, "owner-load");
  world.begin();
  EXPECT_EQ(world.place({"write", {}, 1, 0, {}, {"C"}}), 0);
  world.admit("write");
  world.load("C", node(0));
  world.finish("write", 0);
  world.only_workers["read"] = {1};
  EXPECT_EQ(world.place({"read", {"C"}}), 1);
  world.admit("read");
  world.finish("read", 1);
  world.drop("C", node(1));
  world.busy({100, 0});
  EXPECT_EQ(world.place({"write again", {}, 1, 0, {"C"}}), 0);
}

// Under memory pressure data are placed again; otherwise an overloaded device would keep them all.
TEST(OwnerCompute, OwnershipEndsWhenTheDatumIsStagedOut) {
  PlacedWorld world(2, "owner-load");
  world.begin();
  EXPECT_EQ(world.place({"write", {}, 1, 0, {}, {"C"}}), 0);
  world.load("C", node(0));
  world.admit("write");
  world.finish("write", 0);
  world.leave("C", node(0));
  world.busy({5, 0});
  EXPECT_EQ(world.place({"write again", {}, 1, 0, {"C"}}), 1);
}

TEST(OwnerCompute, InvalidatedOrCancelledCopiesDoNotEndOwnership) {
  for (const DropReason why : {DropReason::overwritten, DropReason::prefetch_cancelled}) {
    PlacedWorld world(2, "owner-load");
    world.begin();
    EXPECT_EQ(world.place({"write", {}, 1, 0, {"C"}}), 0);
    world.load("C", node(0));
    world.drop("C", node(0), why);
    world.busy({5, 0});
    EXPECT_EQ(world.place({"write again", {}, 1, 0, {"C"}}), 0);
  }
}

// The datum is evicted while the task waits; the task fetches it again.
TEST(OwnerCompute, AWaitingTaskRestoresTheOwnershipOfAnEvictedDatum) {
  PlacedWorld world(2, "owner-load");
  world.begin();
  world.load("C", node(0));
  world.ready({"write", {}, 1, 0, {"C"}});
  world.drop("C", node(0));
  EXPECT_EQ(world.request(0), "write");
  world.finish("write", 0);
  world.busy({5, 0});
  EXPECT_EQ(world.place({"write again", {}, 1, 0, {"C"}}), 0);
}

TEST(OwnerCompute, ReadersPreferTheOwner) {
  PlacedWorld world(2, "owner-load");
  world.begin();
  world.busy({20, 21});
  EXPECT_EQ(world.place({"write", {}, 2, 0, {}, {"C"}}), 0);
  EXPECT_EQ(world.place({"read", {"C"}}), 0);  // 23 against 22
}

// C and D live on different nodes; D is larger. Afterwards both live there.
TEST(OwnerCompute, OfSeveralWrittenDataTheLargestDecidesAndTheOthersMove) {
  PlacedWorld world(3, "owner-load");
  world.sizes = {{"D", 2}};
  world.begin();
  EXPECT_EQ(world.place({"c", {}, 1, 0, {}, {"C"}}), 0);
  EXPECT_EQ(world.place({"d", {}, 1, 0, {}, {"D"}}), 1);
  EXPECT_EQ(world.place({"both", {}, 1, 0, {"C", "D", "E"}}), 1);
  EXPECT_EQ(world.place({"c again", {}, 1, 0, {"C"}}), 1);
  EXPECT_EQ(world.place({"e", {}, 1, 0, {"E"}}), 1);
}

TEST(OwnerCompute, ATaskThatTheOwnerCannotRunGoesElsewhereAndTheDatumWithIt) {
  PlacedWorld world(3, "owner-load");
  world.only_workers["elsewhere"] = {1, 2};
  world.begin();
  EXPECT_EQ(world.place({"write", {}, 1, 0, {}, {"C"}}), 0);
  EXPECT_EQ(world.place({"elsewhere", {}, 1, 0, {"C"}}), 1);
  EXPECT_EQ(world.place({"write again", {}, 1, 0, {"C"}}), 1);
}

// Node 0 belongs to the cores.
TEST(OwnerCompute, CoresOwnNoDataIfThereAreAccelerators) {
  PlacedWorld world(3, "owner-load");
  world.kind(0, WorkerKind::cpu);
  world.only_workers["by a core"] = {0};
  world.begin();
  EXPECT_EQ(world.place({"by a core", {}, 1, 0, {}, {"C"}}), 0);
  EXPECT_EQ(world.place({"write", {}, 1, 0, {"C"}}), 1);  // finishes at 1, not at 2
}
TEST(OwnerCompute, OnAMachineOfCoresDataLiveOnTheirNodes) {
  PlacedWorld world(2, "owner-load");
  world.kind(0, WorkerKind::cpu);
  world.kind(1, WorkerKind::cpu);
  world.begin();
  EXPECT_EQ(world.place({"write", {}, 1, 0, {}, {"C"}}), 0);
  world.busy({9, 0});
  EXPECT_EQ(world.place({"write again", {}, 1, 0, {"C"}}), 0);
}

// Two streams of one device; a third worker elsewhere.
TEST(OwnerCompute, TheWorkersOfANodeTakeTheMostUrgentThenTheOldest) {
  PlacedWorld world(1, "owner-load", 2);
  world.only_workers["for 1"] = {1};
  world.begin();
  world.ready({{"a", {}, 1, 0}, {"b", {}, 1, 3}, {"for 1", {}, 1, 9}, {"c", {}, 1, 3}});
  EXPECT_EQ(world.pick(0), "b");
  EXPECT_EQ(world.pick(1), "for 1");
  EXPECT_EQ(world.pick(1), "c");
  EXPECT_EQ(world.pick(0), "a");
}

TEST(OwnerCompute, PrefetchFollowsTheNodesQueue) {
  PlacedWorld world(1, "owner-load", 2);
  world.begin();
  world.ready({{"a", {"A"}, 1, 0}, {"b", {"B", "C"}, 1, 3, {}, {"D"}}});
  EXPECT_EQ(world.upcoming(1, 8), (Names{"B", "C", "A"}));
}

TEST(OwnerCompute, AReturnedTaskIsPlacedAgainAndCountsOnce) {
  PlacedWorld world(2, "owner-load");
  world.begin();
  EXPECT_EQ(world.place({"T", {}, 4}), 0);
  world.give_back("T");
  EXPECT_THAT(world.loads_ms(), ElementsAre(4, 0));
  EXPECT_EQ(world.place_again(), 0);
}

// Node 0 loses its only worker: the datum's next writers, those that wait and those that come, go to node 1.
TEST(OwnerCompute, TasksOfALostWorkerAreReassigned) {
  PlacedWorld world(2, "owner-load");
  world.begin();
  EXPECT_EQ(world.place({"write", {}, 1, 0, {}, {"C"}}), 0);
  world.ready({"again", {}, 1, 0, {"C"}});
  world.policy->worker_lost(worker(0));
  EXPECT_EQ(world.pick(1), "again");
  EXPECT_EQ(world.place({"third", {}, 1, 0, {"C"}}), 1);
  EXPECT_THAT(world.loads_ms(), ElementsAre(1, 2));
}
TEST(OwnerCompute, TheOtherWorkerOfTheNodeKeepsTasksThatItCanRun) {
  PlacedWorld world(2, "owner-load", 2);
  world.only_workers["for 0"] = {0, 2};
  world.begin();
  EXPECT_EQ(world.place({"write", {}, 1, 0, {}, {"C"}}), 0);
  world.ready({{"again", {}, 1, 0, {"C"}}, {"for 0", {}, 1, 0, {"C"}}});
  world.policy->worker_lost(worker(0));
  EXPECT_EQ(world.pick(1), "again");
  EXPECT_EQ(world.pick(1), "-");
  EXPECT_EQ(world.pick(2), "for 0");
}

// Node 0's worker is blocked for a while; nothing else runs.
TEST(OwnerCompute, AWorkerThatMustTakesTasksPlacedElsewhere) {
  PlacedWorld world(2, "owner-load");
  world.begin();
  world.ready({"T", {}, 4, 0, {}, {"C"}});
  EXPECT_EQ(world.pick(1, true), "-");
  EXPECT_EQ(world.policy->take_any(worker(1)), &world.task("T"));
  EXPECT_THAT(world.loads_ms(), ElementsAre(0, 4));
  EXPECT_EQ(world.place({"again", {}, 1, 0, {"C"}}), 1);
}

}  // namespace fairlead::schedule
