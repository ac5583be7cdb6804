// The planner of blocks: its volume, its limits, and that it always yields.
#include "schedule/blocks/blocks.hpp"

#include <ctime>

#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

struct BlocksTest : testing::Test {
  void SetUp() override { world.attach(*policy); }
  void submit(const Spec& spec) { policy->submitted(world.submit(spec)); }
  void ready(const std::string& name) {
    world.task(name).state = TaskState::ready;
    policy->ready(world.task(name), no_id<WorkerId>);
  }
  FakeWorld world;
  std::unique_ptr<Policy> policy = make_blocks();
};

// Two tiles, each updated with A and then with B: A serves both tiles before B does.
TEST_F(BlocksTest, TheFirstUpdatesOfAllTilesComeBeforeTheSecondOnes) {
  submit({"X1", {"A"}, 1, 0, {"X"}});
  submit({"X2", {"B"}, 1, 0, {"X"}});
  submit({"Y1", {"A"}, 1, 0, {"Y"}});
  submit({"Y2", {"B"}, 1, 0, {"Y"}});
  ready("X1");
  ready("Y1");
  EXPECT_EQ(world.pick(0), "X1");
  world.finish("X1");
  ready("X2");  // ready before Y1 is picked
  EXPECT_EQ(world.pick(0), "Y1");
  EXPECT_EQ(world.pick(0), "X2");
}

// X1 and Y1 need A, X2 and Y2 behind them B, nobody needs C.
TEST_F(BlocksTest, WhatThePlanUsesLastOrNotAtAllLeaves) {
  submit({"X1", {"A"}, 1, 0, {"X"}});
  submit({"X2", {"B"}, 1, 0, {"X"}});
  submit({"Y1", {"A"}, 1, 0, {"Y"}});
  submit({"Y2", {"B"}, 1, 0, {"Y"}});
  ready("X1");
  ready("Y1");
  EXPECT_EQ(world.pick(0), "X1");
  EXPECT_EQ(world.victim(node(0), {"A", "C", "B"}), "C");
  EXPECT_EQ(world.victim(node(0), {"A", "B"}), "B");
  world.finish("X1");
  EXPECT_EQ(world.pick(0), "Y1");
  world.finish("Y1");
  EXPECT_EQ(world.victim(node(0), {"B", "A"}), "A");  // its uses are over
}

// As in a factorization. Whether what follows is known when P is picked, a parameterized graph, or not yet, a flow, Y1 is
// the next that is planned for, and its plan has Z1 in it.
TEST_F(BlocksTest, AFirstTaskThatFinishesItsTileIsPlannedAlone) {
  for (const bool known : {true, false}) {
    const std::string n = known ? " known" : " unknown";
    const auto submit_others = [&] {
      submit({"Y1" + n, {"P"}, 1, 0, {"Y"}});
      submit({"Z1" + n, {"P"}, 1, 0, {"Z"}});
    };
    submit({"P1" + n, {}, 1, 0, {"P"}});
    if (known) submit_others();
    ready("P1" + n);
    EXPECT_EQ(world.pick(0), "P1" + n);
    if (!known) submit_others();
    EXPECT_EQ(world.victim(node(0), {"Z", "P"}), "Z");  // the plan does not use it yet
    world.finish("P1" + n);
    ready("Y1" + n);
    EXPECT_EQ(world.pick(0), "Y1" + n);
    EXPECT_EQ(world.victim(node(0), {"Z", "nobody's"}), "nobody's");
    ready("Z1" + n);
    EXPECT_EQ(world.pick(0), "Z1" + n);
    world.finish("Y1" + n);
    world.finish("Z1" + n);
  }
}

// A matrix of many tiles is made by as many tasks: each is a plan of its own, and none is shorter, so that
// none has to be looked for among the others. The time is that of this process, and the bound far from both.
TEST_F(BlocksTest, TasksOfWhichNoneIsBetterAreGivenOutOneByOne) {
  constexpr int tasks = 40'000;
  for (int i = 0; i < tasks; ++i) {
    const std::string number = std::to_string(i);
    world.submit_ready({"make " + number, {}, 1, 0, {}, {"X" + number}});
  }
  const std::clock_t began = std::clock();
  for (int i = 0; i < tasks; ++i) {
    const std::string name = world.pick(0);
    ASSERT_EQ(name, "make " + std::to_string(i));
    world.finish(name);
  }
  EXPECT_LT(std::clock() - began, 6 * CLOCKS_PER_SEC);
}

TEST_F(BlocksTest, TasksThatWriteNothingOrWereNeverSubmittedRunToo) {
  submit({"reader", {"A"}});
  world.submit({"unseen", {"A"}, 1, 0, {"X"}});
  ready("unseen");
  ready("reader");
  EXPECT_EQ(world.pick(0), "reader");
  EXPECT_EQ(world.pick(0), "unseen");
  EXPECT_EQ(world.pick(0, true), "-");
  world.finish("reader");
  EXPECT_EQ(world.victim(node(0), {"A"}), "A");
}

// Commutative updates of X: the second is ready while the first still waits for B.
TEST_F(BlocksTest, AnUpdateThatIsReadyBeforeAnEarlierOneRuns) {
  submit({"makes B", {}, 1, 0, {"B"}});
  submit({"X1", {"B"}, 1, 0, {"X"}});
  submit({"X2", {"A"}, 1, 0, {"X"}});
  ready("X2");
  EXPECT_EQ(world.pick(0), "X2");
  world.finish("X2");
  ready("makes B");
  EXPECT_EQ(world.pick(0), "makes B");
  world.finish("makes B");
  ready("X1");
  EXPECT_EQ(world.pick(0, true), "X1");
}

TEST_F(BlocksTest, ATaskGivenBackKeepsItsPlace) {
  submit({"X1", {"A"}, 1, 0, {"X"}});
  submit({"Y1", {"A"}, 1, 0, {"Y"}});
  ready("X1");
  ready("Y1");
  EXPECT_EQ(world.pick(0), "X1");
  world.give_back("X1");
  EXPECT_EQ(world.pick(0), "X1");
  EXPECT_EQ(world.pick(0), "Y1");
}

TEST_F(BlocksTest, APrefetchDisplacesOnlyWhatThePlanDoesNotUse) {
  submit({"X1", {"A"}, 1, 0, {"X"}});
  submit({"X2", {"B"}, 1, 0, {"X"}});
  ready("X1");
  ASSERT_EQ(world.pick(0), "X1");
  EXPECT_EQ(world.spare(node(0), "A", {"B", "nobody's"}), "nobody's");
  EXPECT_EQ(world.spare(node(0), "A", {"B"}), "");
  EXPECT_EQ(world.spare(node(0), "A", {}), "");
}

// Workers of full nodes ask again and again.
TEST_F(BlocksTest, OnceThePlanUsesAllNothingIsSparedBeforeATaskEnds) {
  submit({"X1", {"A"}, 1, 0, {"X"}});
  submit({"X2", {"B"}, 1, 0, {"X"}});
  ready("X1");
  ASSERT_EQ(world.pick(0), "X1");
  EXPECT_EQ(world.spare(node(0), "B", {"A"}), "");
  EXPECT_EQ(world.spare(node(0), "B", {"A", "nobody's"}), "");
  world.finish("X1");
  EXPECT_EQ(world.spare(node(0), "B", {"A"}), "A");
}

TEST_F(BlocksTest, WhatThePlansReadyTasksLackIsWantedNext) {
  submit({"X1", {"A"}, 1, 0, {"X"}});
  submit({"Y1", {"A", "B"}, 1, 0, {"Y"}});
  submit({"Z1", {"A", "B"}, 1, 0, {"Z"}});
  ready("X1");
  ready("Y1");
  ready("Z1");
  EXPECT_EQ(world.pick(0), "X1");
  world.load("A", node(0));
  EXPECT_EQ(world.upcoming(0, 4), (Names{"B", "Y", "Z"}));
}

}  // namespace fairlead::schedule
