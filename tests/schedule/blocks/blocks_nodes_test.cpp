// blocks on several memory nodes, worked by hand: the owner of a tile, waiting for a neighbour, and taking over.
#include "schedule/blocks/blocks.hpp"

#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

/// Two nodes with a worker each: even rows of tiles belong to node 0, odd ones to node 1.
struct BlocksOnTwoNodes : testing::Test {
  void SetUp() override {
    world.from_peer_ms = 1;
    world.tiles = {{"X", {0, 0}}, {"Y", {1, 0}}, {"Z", {2, 0}}, {"V", {3, 0}}};
    world.attach(*policy);
  }
  /// Updates of X and Y with A, of V with B, of Z with both; 10 ms each.
  void submit_four() {
    world.submit_ready({"X1", {"A"}, 10, 0, {"X"}});
    world.submit_ready({"Z1", {"A", "B"}, 10, 0, {"Z"}});
    world.submit_ready({"Y1", {"A"}, 10, 0, {"Y"}});
    world.submit_ready({"V1", {"B"}, 10, 0, {"V"}});
  }
  FakeWorld world{2};
  std::unique_ptr<Policy> policy = make_blocks();
};

TEST_F(BlocksOnTwoNodes, EachRunsTheUpdatesOfItsOwnTiles) {
  submit_four();
  EXPECT_EQ(world.pick(1), "Y1");
  EXPECT_EQ(world.pick(0), "X1");
  EXPECT_EQ(world.pick(0), "Z1");
  EXPECT_EQ(world.pick(1), "V1");
  EXPECT_EQ(world.pick(0), "-");
}

TEST_F(BlocksOnTwoNodes, DataInFlightToANeighbourAreFetchedFromItLater) {
  submit_four();
  world.expect("A", node(0));
  EXPECT_EQ(world.upcoming(1, 4), Names{});  // nothing is planned yet
  EXPECT_EQ(world.pick(1), "V1");            // Y1 waits for A
  EXPECT_EQ(world.pick(1), "-");
  EXPECT_EQ(world.upcoming(1, 4), Names{"Y"});
  world.load("A", node(0));
  EXPECT_EQ(world.upcoming(1, 4), (Names{"A", "Y"}));
  EXPECT_EQ(world.pick(1), "Y1");
}

TEST_F(BlocksOnTwoNodes, NoWorkerWaitsWhenNothingElseRuns) {
  submit_four();
  world.expect("A", node(0));
  ASSERT_EQ(world.pick(1), "V1");
  EXPECT_EQ(world.pick(1, true), "Y1");
}

// Node 0 has 20 ms to do. Z1 on node 1 would take 10 and four copies of 1 ms: A, B, Z, and Z back.
TEST_F(BlocksOnTwoNodes, AnIdleNodeTakesTheLastTaskOfTheOtherIfThatPays) {
  submit_four();
  ASSERT_EQ(world.pick(1), "Y1");
  ASSERT_EQ(world.pick(1), "V1");
  EXPECT_EQ(world.pick(1), "-");  // all would come from home
  world.load("A", node(0));
  world.load("B", node(0));
  EXPECT_EQ(world.pick(1), "-");  // Z would
  world.load("Z", node(0));
  EXPECT_EQ(world.pick(1), "Z1");
  world.load("X", node(0));
  EXPECT_EQ(world.pick(1), "-");  // X1 finishes there before: 10 ms
  EXPECT_EQ(world.pick(0), "X1");
}

TEST_F(BlocksOnTwoNodes, DataThatTheOtherNodeHasAndOnlyItUsesAreEvicted) {
  submit_four();
  ASSERT_EQ(world.pick(0), "X1");
  world.load("X", node(0));
  EXPECT_EQ(world.victim(node(0), {"A", "B"}), "B");
  EXPECT_EQ(world.victim(node(1), {"X", "B"}), "X");
  EXPECT_EQ(world.victim(node(1), {"A", "B"}), "B");  // Y1 with A comes before V1
  EXPECT_EQ(world.spare(node(1), "A", {"X", "B"}), "X");
}

// X1 comes before V1, and node 0 can get X from node 1 only, or from home.
TEST_F(BlocksOnTwoNodes, DataThatTheOtherNodeWouldFetchAreNotEvicted) {
  submit_four();
  ASSERT_EQ(world.pick(0), "X1");
  EXPECT_EQ(world.victim(node(1), {"X", "B"}), "B");
  EXPECT_EQ(world.victim(node(1), {"X", "unused"}), "unused");
  EXPECT_EQ(world.spare(node(1), "A", {"X"}), "");
}

TEST_F(BlocksOnTwoNodes, TheOtherNodeGetsTheTilesOfALostNode) {
  submit_four();
  ASSERT_EQ(world.pick(0), "X1");
  policy->worker_lost(worker(1));
  EXPECT_EQ(world.pick(0), "Y1");
  EXPECT_EQ(world.pick(0), "Z1");
  EXPECT_EQ(world.pick(0), "V1");
}

// V1 runs on node 0 only, although its tile is on node 1.
TEST_F(BlocksOnTwoNodes, TasksThatANodeCannotRunRunElsewhere) {
  world.only_workers = {{"V1", {0}}};
  submit_four();
  EXPECT_EQ(world.pick(1), "Y1");
  EXPECT_EQ(world.pick(0), "X1");
  EXPECT_EQ(world.pick(0), "Z1");
  EXPECT_EQ(world.pick(0), "V1");
}

// Cores share a node with the host; they help, but have no tiles.
TEST_F(BlocksOnTwoNodes, CoresHaveNoTiles) {
  FakeWorld with_cores(2);
  with_cores.kind(0, WorkerKind::cpu);
  with_cores.times_slower = {{0, 30}};
  const auto blocks = make_blocks();
  with_cores.attach(*blocks);
  with_cores.submit_ready({"X1", {"A"}, 10, 0, {"X"}});
  with_cores.submit_ready({"Y1", {"A"}, 10, 0, {"Y"}});
  EXPECT_EQ(with_cores.pick(0), "-");  // 300 ms, and the device finishes after 20
  EXPECT_EQ(with_cores.pick(1), "X1");
  EXPECT_EQ(with_cores.pick(1), "Y1");
}

}  // namespace fairlead::schedule
