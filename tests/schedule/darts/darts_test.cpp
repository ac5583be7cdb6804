// DARTS by the worked examples: each tie-break, each branch, eviction.
#include "schedule/darts/darts.hpp"

#include <optional>

#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

struct DartsTest : testing::Test {
  void start(unsigned nodes = 1, unsigned workers_per_node = 1) {
    world_.emplace(nodes, workers_per_node);
    world().attach(darts);
  }
  FakeWorld& world() { return *world_; }
  Names planned(unsigned at = 0) {
    std::vector<const Task*> tasks;
    darts.planned(node(at), tasks);
    Names names;
    for (const Task* task : tasks) names.push_back(world().name_of(*task));
    return names;
  }
  /// The data loaded by the next request.
  Names loads_of_request(unsigned id = 0) {
    world().request(id);
    return world().loads();
  }
  Darts darts;
  std::optional<FakeWorld> world_;
};

// One node, A, B and C take 2 ms each: task_left decides for A, then a ratio of 2/3 for B.
TEST_F(DartsTest, ThreeDecisionsRunFourTasksInTheOrderWorkedByHand) {
  start();
  world().ready(
      {{"T1", {"A"}, 1, 1}, {"T2", {"C"}, 1, 1}, {"T3", {"A", "B"}, 3, 5}, {"T4", {"B", "C"}, 2, 2}});
  EXPECT_EQ(world().request(0), "T1");
  EXPECT_EQ(world().loads(), Names{"A"});
  EXPECT_EQ(planned(), Names{});
  EXPECT_EQ(world().request(0), "T3");
  EXPECT_EQ(world().loads(), Names{"B"});
  EXPECT_EQ(world().request(0), "T2");
  EXPECT_EQ(world().loads(), Names{"C"});
  EXPECT_EQ(planned(), Names{"T4"});
  EXPECT_EQ(world().request(0), "T4");
  EXPECT_EQ(world().loads(), Names{});
  EXPECT_EQ(darts.decisions(), 3u);
}

TEST_F(DartsTest, TheRatioComesBeforePriority) {
  start();
  world().ready({{"T1", {"A"}, 1, 9}, {"T2", {"B"}, 2, 1}});
  EXPECT_EQ(loads_of_request(), Names{"B"});
}

TEST_F(DartsTest, TheNumberOfEnabledTasksComesBeforePriority) {
  start();
  world().ready({{"T1", {"A"}, 2, 9}, {"T2", {"B"}, 1, 1}, {"T3", {"B"}, 1, 1}});
  EXPECT_EQ(world().request(0), "T2");
  EXPECT_EQ(world().loads(), Names{"B"});
  EXPECT_EQ(planned(), Names{"T3"});
}

TEST_F(DartsTest, PriorityDecidesBetweenEqualRatiosAndNumbers) {
  start();
  world().ready({{"T1", {"A"}, 2, 1}, {"T2", {"B"}, 2, 3}});
  EXPECT_EQ(loads_of_request(), Names{"B"});
}

TEST_F(DartsTest, TasksThatLackOneMoreDatumDecideNext) {
  start();
  world().ready({{"T1", {"A"}, 2, 1}, {"T2", {"B"}, 2, 1}, {"T3", {"B", "C"}, 1, 1}});
  EXPECT_EQ(loads_of_request(), Names{"B"});
}

TEST_F(DartsTest, TheWorkLeftDecidesLast) {
  start();
  world().ready(
      {{"T1", {"A"}, 2, 1}, {"T2", {"B"}, 2, 1}, {"T3", {"A", "C"}, 1, 1}, {"T4", {"B", "D"}, 4, 1}});
  EXPECT_EQ(loads_of_request(), Names{"B"});
  EXPECT_EQ(loads_of_request(), Names{"D"});
  EXPECT_EQ(loads_of_request(), Names{"A"});
  EXPECT_EQ(loads_of_request(), Names{"C"});
}

TEST_F(DartsTest, WithoutAnEnabledTaskTheMostUrgentThatLacksTwoIsPlanned) {
  start();
  world().ready({{"T1", {"A", "B"}, 1, 1}, {"T2", {"A", "C"}, 1, 3}, {"T3", {"B", "C"}, 5, 2}});
  EXPECT_EQ(world().pick(0), "T2");
  EXPECT_EQ(planned(), Names{});
  EXPECT_FALSE(darts.missing(world().datum("A"), node(0)));  // although nothing is loaded yet
  EXPECT_FALSE(darts.missing(world().datum("C"), node(0)));
  EXPECT_TRUE(darts.missing(world().datum("B"), node(0)));
  world().admit("T2");
  EXPECT_EQ(world().request(0), "T1");
  EXPECT_EQ(world().loads(), (Names{"A", "C", "B"}));
  EXPECT_EQ(planned(), Names{"T3"});
}

TEST_F(DartsTest, WithoutThoseTheMostUrgentTaskIsPlanned) {
  start();
  world().ready({{"T1", {"A", "B", "C"}, 1, 1}, {"T2", {"A", "B", "D"}, 1, 2}});
  EXPECT_EQ(world().request(0), "T2");
  EXPECT_EQ(world().loads(), (Names{"A", "B", "D"}));
  EXPECT_EQ(world().request(0), "T1");
  EXPECT_EQ(world().loads(), Names{"C"});
}

// T2 needs nothing more once T1 brings A and B; no S0 ever contains it.
TEST_F(DartsTest, TasksLeftWithoutMissingDataArePlannedBeforeAnyDatumIsChosen) {
  start();
  world().ready({{"T1", {"A", "B"}, 1, 5}, {"T2", {"A", "B"}, 1, 1}, {"T3", {"A", "C"}, 1, 1}});
  EXPECT_EQ(world().request(0), "T1");
  EXPECT_EQ(world().loads(), (Names{"A", "B"}));
  EXPECT_EQ(world().request(0), "T2");
  EXPECT_EQ(world().loads(), Names{});
  EXPECT_EQ(darts.decisions(), 1u);
  EXPECT_EQ(world().request(0), "T3");
  EXPECT_EQ(world().loads(), Names{"C"});
}

TEST_F(DartsTest, WithoutReadyTasksThereIsNoDecision) {
  start();
  EXPECT_EQ(world().pick(0), "-");
  EXPECT_EQ(world().pick(0, true), "-");
  EXPECT_EQ(darts.decisions(), 0u);
}

TEST_F(DartsTest, PureOutputsAreNotLoaded) {
  start();
  world().ready({{"T1", {"A", "B"}, 1, 9}, {"T2", {"A"}, 1, 1, {}, {"X", "Y"}}});
  EXPECT_EQ(world().request(0), "T2");
  EXPECT_EQ(world().loads(), Names{"A"});
}

// ---- two devices with a link; GPU 0 holds A and B, GPU 1 holds C, nothing finishes

struct TwoDevices : DartsTest {
  void SetUp() override {
    start(2);
    world().from_host_ms = 1;
    world().from_peer_ms = 0.25;
    world().load("A", node(0));
    world().load("B", node(0));
    world().load("C", node(1));
    world().loads();
    world().ready({{"T1", {"A", "C"}, 1, 1},
                   {"T2", {"B", "C"}, 1, 2},
                   {"T3", {"C", "D"}, 3, 1},
                   {"T4", {"A", "B", "E"}, 2, 4}});
  }
  void four_requests() {
    for (const unsigned gpu : {1u, 0u, 1u, 0u}) world().request(gpu);
  }
};

TEST_F(TwoDevices, TheFastLinkDecidesAndEachDeviceTakesNearbyData) {
  EXPECT_EQ(world().request(1), "T2");
  EXPECT_EQ(world().loads(), Names{"B"});
  EXPECT_EQ(world().request(0), "T1");
  EXPECT_EQ(world().loads(), Names{"C"});
  EXPECT_EQ(world().request(1), "T3");
  EXPECT_EQ(world().loads(), Names{"D"});
  EXPECT_EQ(world().request(0), "T4");
  EXPECT_EQ(world().loads(), Names{"E"});
  EXPECT_EQ(darts.decisions(), 4u);
}

TEST_F(TwoDevices, WithoutTheLinkTheRatioPrefersD) {
  world().from_peer_ms = 0;
  EXPECT_EQ(world().request(1), "T3");
  EXPECT_EQ(world().loads(), Names{"D"});
}

TEST_F(TwoDevices, NewFreeTasksGoToTheDeviceWithTheFewestQueued) {
  four_requests();
  world().ready({"T5", {"A", "E"}});
  EXPECT_EQ(planned(0), Names{"T5"});  // free there only; three queued now
  world().ready({"T6", {"B", "C"}});
  EXPECT_EQ(planned(1), Names{"T6"});  // free on both
  world().ready({"T7", {"B"}});
  EXPECT_EQ(planned(0), (Names{"T5", "T7"}));  // three each: the first
  world().ready({"T8", {"A", "D"}});
  EXPECT_EQ(planned(0).size() + planned(1).size(), 3u);
  EXPECT_TRUE(darts.missing(world().datum("D"), node(0)));
  EXPECT_TRUE(darts.missing(world().datum("A"), node(1)));
  world().ready({"T9", {"F"}});
  EXPECT_TRUE(darts.missing(world().datum("F"), node(0)));
  EXPECT_TRUE(darts.missing(world().datum("F"), node(1)));
}

// ---- memory nodes with several workers, or used in place

TEST_F(DartsTest, TheWorkersOfANodeShareItsPlan) {
  start(1, 2);
  world().ready({{"T1", {"A"}}, {"T2", {"A"}}, {"T3", {"B"}}});
  EXPECT_EQ(world().request(0), "T1");
  EXPECT_EQ(world().request(1), "T2");
  EXPECT_EQ(world().loads(), Names{"A"});
}

TEST_F(DartsTest, AWorkerSkipsPlannedTasksThatOnlyItsNeighbourCanRun) {
  start(1, 2);
  world().only_workers = {{"T1", {1}}};
  world().ready({{"T1", {"A"}}, {"T2", {"A"}}});
  EXPECT_EQ(world().pick(0), "T2");
  EXPECT_EQ(world().pick(0), "-");
  EXPECT_EQ(world().pick(1), "T1");
}

TEST_F(DartsTest, ANodeDoesNotLoadForTasksThatItCannotRun) {
  start(2);
  world().only_workers = {{"T1", {1}}, {"T2", {1}}};
  world().ready({{"T1", {"A"}, 9}, {"T2", {"A"}, 9}, {"T3", {"B"}, 1}});
  EXPECT_EQ(world().request(0), "T3");
  EXPECT_EQ(world().pick(0, true), "-");
  EXPECT_EQ(world().request(1), "T1");
}

TEST_F(DartsTest, DataUsedInPlaceAreNeverMissing) {
  start();
  world().datum("A");
  world().in_place("A", node(0));
  world().ready({{"T1", {"A", "B"}, 1}, {"T2", {"C"}, 1, 9}, {"T3", {"A"}, 1}});
  EXPECT_EQ(planned(), Names{"T3"});  // free from the start
  EXPECT_EQ(world().request(0), "T3");
  world().drop("A", node(0), DropReason::overwritten);
  EXPECT_FALSE(darts.missing(world().datum("A"), node(0)));
}

// ---- eviction, section 5.4

struct DartsEvictionTest : DartsTest {
  /// A, B, C and D in memory; taskBuffer as given, each task picked and nothing admitted.
  void begin(const std::vector<Spec>& buffer) {
    start();
    for (const auto* name : {"A", "B", "C", "D"}) world().load(name, node(0));
    for (const Spec& spec : buffer) {
      world().ready(spec);
      world().pick(0);
    }
  }
  std::string victim() { return world().victim(node(0), {"A", "B", "C", "D"}); }
};

TEST_F(DartsEvictionTest, EvictsTheDatumWithTheFewestPlannedTasksWhichBecomeReadyAgain) {
  begin({{"T1", {"A", "B"}}, {"T2", {"B"}}});
  world().ready({{"T3", {"C"}}, {"T4", {"C", "A"}}, {"T5", {"D"}}});
  EXPECT_EQ(planned(), (Names{"T3", "T4", "T5"}));
  EXPECT_EQ(victim(), "D");
  world().drop("D", node(0));
  EXPECT_EQ(planned(), (Names{"T3", "T4"}));
  EXPECT_TRUE(darts.missing(world().datum("D"), node(0)));
  EXPECT_EQ(world().pick(0), "T3");
  EXPECT_EQ(world().pick(0), "T4");
  EXPECT_EQ(darts.decisions(), 0u);
  EXPECT_EQ(world().pick(0), "T5");  // by choosing D again
  EXPECT_EQ(darts.decisions(), 1u);
}

TEST_F(DartsEvictionTest, EvictsDataThatNoPlanUsesFirst) {
  begin({{"T1", {"A", "B"}}, {"T2", {"B"}}});
  world().ready({{"T3", {"C"}}, {"T4", {"C", "A"}}});
  EXPECT_EQ(victim(), "D");
  world().drop("D", node(0));
  EXPECT_EQ(planned(), (Names{"T3", "T4"}));
  world().ready({"T5", {"D"}, 5});  // D comes back into dataNotInMem with it
  EXPECT_EQ(planned(), (Names{"T3", "T4"}));
  EXPECT_TRUE(darts.missing(world().datum("D"), node(0)));
}

TEST_F(DartsEvictionTest, IfTaskBufferUsesAllEvictsTheFurthestNextUse) {
  begin({{"T1", {"A", "B"}}, {"T2", {"C"}}, {"T3", {"B", "D"}}, {"T4", {"A"}}});
  EXPECT_EQ(victim(), "D");
}

TEST_F(DartsEvictionTest, PlannedTasksDoNotCountThen) {
  begin({{"T1", {"A", "B"}}, {"T2", {"C"}}, {"T3", {"B", "D"}}, {"T4", {"A"}}});
  world().finish("T1");
  world().ready({"T6", {"C"}});
  EXPECT_EQ(planned(), Names{"T6"});
  EXPECT_EQ(victim(), "A");
}

TEST_F(DartsEvictionTest, AmongEqualCountsEvictsTheLeastRecentlyUsed) {
  begin({{"T1", {"A"}}});
  world().ready({{"T2", {"B"}}, {"T3", {"C"}}, {"T4", {"C", "D"}}});
  EXPECT_EQ(world().victim(node(0), {"C", "D", "A", "B"}), "D");
  EXPECT_EQ(world().victim(node(0), {"C", "B", "A", "D"}), "B");
}

// T1 was picked and waits for admission; until then A may be evicted, but is loaded again for T1, so T2 stays
// planned.
TEST_F(DartsEvictionTest, DataThatTaskBufferReloadsKeepTheirPlannedTasks) {
  begin({{"T1", {"A"}}});
  world().ready({"T2", {"A"}});
  world().drop("A", node(0));
  EXPECT_FALSE(darts.missing(world().datum("A"), node(0)));
  EXPECT_EQ(planned(), Names{"T2"});
  world().give_back("T1");  // only T2 and T1, now planned behind it, load A
  EXPECT_EQ(planned(), (Names{"T2", "T1"}));
}

TEST_F(DartsTest, DataOfAReturnedTaskAreMissingAgain) {
  start();
  world().ready({"T1", {"A"}});
  EXPECT_EQ(world().pick(0), "T1");
  EXPECT_FALSE(darts.missing(world().datum("A"), node(0)));
  world().give_back("T1");
  EXPECT_TRUE(darts.missing(world().datum("A"), node(0)));
  EXPECT_EQ(world().pick(0), "T1");
}

TEST_F(DartsTest, DataOfACancelledTaskAreMissingAgain) {
  start();
  world().ready({"T1", {"A"}});
  EXPECT_EQ(world().pick(0), "T1");
  darts.cancelled(world().task("T1"));
  EXPECT_TRUE(darts.missing(world().datum("A"), node(0)));
}

TEST_F(DartsTest, TasksPlannedForALostNodeRunElsewhere) {
  start(2);
  world().load("A", node(1));
  world().ready({{"T1", {"A"}}, {"T2", {"A"}}});
  EXPECT_EQ(planned(1), (Names{"T1", "T2"}));
  EXPECT_EQ(world().pick(0), "-");
  darts.worker_lost(worker(1));
  EXPECT_EQ(world().pick(0), "T1");
  EXPECT_EQ(world().pick(0), "T2");
}

// Workers 0 and 1 are on node 0, where A is; worker 0 cannot run T1.
TEST_F(DartsTest, TasksThatOnlyALostWorkerOfTheNodeCouldRunRunElsewhere) {
  start(2, 2);
  world().only_workers = {{"T1", {1, 2}}};
  world().load("A", node(0));
  world().ready({"T1", {"A"}});
  EXPECT_EQ(planned(0), Names{"T1"});
  darts.worker_lost(worker(1));
  EXPECT_EQ(world().pick(0, true), "-");
  EXPECT_EQ(world().pick(2), "T1");
}

// If nothing runs anywhere, a node also takes tasks planned for another one.
TEST_F(DartsTest, WithNothingRunningAnyTaskIsGivenOut) {
  start(2);
  world().load("A", node(1));
  world().ready({"T1", {"A"}});
  EXPECT_EQ(world().pick(0), "-");
  EXPECT_EQ(world().pick(0, true), "T1");
  EXPECT_FALSE(darts.missing(world().datum("A"), node(0)));
}

// Section 5.2: "tasks in taskBuffer [...] their data are being prefetched".
TEST_F(DartsTest, PlannedTasksAreNotPrefetchedByDefault) {
  start();
  world().load("A", node(0));
  world().ready({{"T1", {"A", "B"}, 1}, {"T2", {"B"}, 1}});
  EXPECT_EQ(world().pick(0), "T1");
  EXPECT_EQ(planned(), Names{"T2"});
  EXPECT_EQ(world().upcoming(0, 4), Names{});
}

TEST(DartsPrefetch, PlannedTasksArePrefetchedWithTheOption) {
  FakeWorld world;
  Darts darts({.prefetch = DartsPrefetch::planned});
  world.attach(darts);
  world.load("A", node(0));
  world.ready({{"T1", {"A", "B"}, 1}, {"T2", {"B"}, 1}, {"T3", {"C"}, 1}});
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.upcoming(0, 4), Names{"B"});
}

}  // namespace fairlead::schedule
