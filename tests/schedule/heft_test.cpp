// StarPU's policies of 2010 by hand. One worker per node unless said; a datum takes from_host_ms, 2, to any
// node that lacks it.
#include "schedule/heft.hpp"

#include <string>

#include "schedule/fake_world.hpp"
#include "schedule/policies.hpp"
#include "schedule/twins.hpp"

namespace fairlead::schedule {
namespace {

struct HeftTest : testing::Test {
  std::unique_ptr<Policy> policy;

  void begin(FakeWorld& world, std::string_view name) {
    policy = make_policy(name);
    world.attach(*policy);
  }
  Names queue_of(FakeWorld& world, unsigned by) {
    Names out;
    for (std::string name = world.pick(by); name != "-"; name = world.pick(by)) out.push_back(name);
    return out;
  }
};

/// Four tasks of 2 ms read A, which is on node 1.
void four_readers(FakeWorld& world) {
  world.load("A", node(1));
  for (const char* name : {"T1", "T2", "T3", "T4"}) world.ready({name, {"A"}, 2});
}

// Ends without transfers: 2 and 2, - and 2, 4 and 4, - and 4. Data do not count.
TEST_F(HeftTest, TmCountsTheDurationsOnly) {
  for (const char* name : {"heft-tm", "heft-tm-pr", "heft-tmdp:beta=0"}) {
    FakeWorld world(2);
    begin(world, name);
    four_readers(world);
    EXPECT_EQ(queue_of(world, 0), (Names{"T1", "T3"})) << name;
    EXPECT_EQ(queue_of(world, 1), (Names{"T2", "T4"})) << name;
  }
}

// 4 against 2; 4 against 4, and the lowest wins; then A counts as there too, and the queue is as long as its durations:
// 4 against 4, 6 against 4.
TEST_F(HeftTest, TmdpAddsTheMissingTransfers) {
  for (const char* name : {"heft-tmdp", "heft-tmdp-pr", "heft-tmdp-init"}) {
    FakeWorld world(2);
    begin(world, name);
    four_readers(world);
    EXPECT_EQ(queue_of(world, 1), (Names{"T1", "T4"})) << name;
    EXPECT_EQ(queue_of(world, 0), (Names{"T2", "T3"})) << name;
  }
}

// Transfers count as 6 ms: 8 against 2, 8 against 4, 8 against 6, 8 against 8.
TEST_F(HeftTest, BetaWeighsThem) {
  FakeWorld world(2);
  begin(world, "heft-tmdp:beta=3");
  four_readers(world);
  EXPECT_EQ(queue_of(world, 1), (Names{"T1", "T2", "T3"}));
  EXPECT_EQ(queue_of(world, 0), Names{"T4"});
}

// "when a task is assigned to a processing unit [...] the input buffers are prefetched"
TEST_F(HeftTest, PrefetchesTheInputsOfTheQueue) {
  for (const char* name : {"heft-tm-pr", "heft-tmdp-pr", "heft-tm-init:prefetch=yes",
                           "heft-tmdp-init:prefetch=yes", "static:prefetch=yes"}) {
    FakeWorld world;
    begin(world, name);
    world.ready({{"T1", {"A", "B"}}, {"T2", {"C"}}});
    EXPECT_EQ(world.upcoming(0, 9), (Names{"A", "B", "C"})) << name;
  }
  for (const char* name : {"heft-tm", "heft-tmdp", "heft-tm-init", "heft-tmdp-init", "static"}) {
    FakeWorld world;
    begin(world, name);
    world.ready({{"T1", {"A", "B"}}, {"T2", {"C"}}});
    EXPECT_EQ(world.upcoming(0, 9), Names{}) << name;
  }
}

// The same policy under its earlier name.
TEST_F(HeftTest, TmdpWithPrefetchDecidesLikeDmda) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    const unsigned nodes = 1 + seed % 3;
    Twins twins(seed, nodes, 2 * nodes, 8);
    const auto dmda = make_policy("dmda:queue=duration"), heft = make_policy("heft-tmdp-pr");
    twins.a.attach(*heft);
    twins.b.attach(*dmda);
    for (int step = 0; step < 300; ++step) {
      if (twins.random.once_in(2)) twins.ready(twins.some_task(2, 3));
      twins.pick();
      twins.change_one_held();
      const auto by = static_cast<unsigned>(twins.random.below(twins.workers));
      ASSERT_EQ(twins.a.upcoming(by, 5), twins.b.upcoming(by, 5));
    }
  }
}

/// A column of so many tiles: X0, X1, ...
void column(FakeWorld& world, int count) {
  for (int i = 0; i < count; ++i) world.tiles["X" + std::to_string(i)] = {i, 0};
}
/// Each tile is updated by a task called after it.
void update_all(FakeWorld& world, const std::string& name, int count, double ms = 1) {
  for (int i = 0; i < count; ++i)
    world.ready({name + std::to_string(i), {}, ms, 0, {"X" + std::to_string(i)}});
}

// Of 7 tiles the i-th goes to worker 3 i / 7, rounded down, in every iteration.
TEST_F(HeftTest, StaticGivesEachWorkerAnEqualPartOfTheTiles) {
  FakeWorld world(3);
  begin(world, "static");
  column(world, 7);
  for (const char* iteration : {"a", "b"}) {
    const auto named = [&](const char* i) { return std::string(iteration) + i; };
    update_all(world, iteration, 7);
    EXPECT_EQ(queue_of(world, 0), (Names{named("0"), named("1"), named("2")}));
    EXPECT_EQ(queue_of(world, 1), (Names{named("3"), named("4")}));
    EXPECT_EQ(queue_of(world, 2), (Names{named("5"), named("6")}));
  }
}

// Row by row: of 2 x 2 tiles each worker has a row.
TEST_F(HeftTest, StaticCountsTilesRowByRow) {
  FakeWorld world(2);
  begin(world, "static");
  world.tiles = {{"A", {0, 0}}, {"B", {0, 1}}, {"C", {1, 0}}, {"D", {1, 1}}};
  world.ready(
      {{"a", {}, 1, 0, {"A"}}, {"d", {}, 1, 0, {"D"}}, {"b", {}, 1, 0, {"B"}}, {"c", {}, 1, 0, {"C"}}});
  EXPECT_EQ(queue_of(world, 0), (Names{"a", "b"}));
  EXPECT_EQ(queue_of(world, 1), (Names{"d", "c"}));
}

// The writer of X goes with X, whatever it reads; a reader goes with its first input. Y and Z have no
// coordinates: distributed in turn, and then kept. A task without data goes where it finishes first.
TEST_F(HeftTest, StaticFollowsTheWrittenDatum) {
  FakeWorld world(2);
  begin(world, "static");
  column(world, 2);
  world.ready({"writes X1", {"X0"}, 9, 0, {}, {"X1"}});
  world.ready({"reads X1", {"X1", "X0"}, 9});
  world.ready({"writes Y", {}, 9, 0, {}, {"Y"}});
  world.ready({"writes Z", {}, 9, 0, {}, {"Z"}});
  world.ready({"updates Y", {"Z"}, 9, 0, {"Y"}});
  world.ready({"nothing", {}, 9});  // 27 ms wait for worker 1, 18 for worker 0
  EXPECT_EQ(queue_of(world, 0), (Names{"writes Y", "updates Y", "nothing"}));
  EXPECT_EQ(queue_of(world, 1), (Names{"writes X1", "reads X1", "writes Z"}));
}

// Workers 0 and 1 are cores, 2 and 3 accelerators.
TEST_F(HeftTest, StaticPrefersAcceleratorsAndUsesCoresForTasksThatOnlyTheyCanRun) {
  FakeWorld world(2, 2);
  world.kind(0, WorkerKind::cpu);
  world.kind(1, WorkerKind::cpu);
  for (int i = 0; i < 4; ++i) world.only_workers["core" + std::to_string(i)] = {0, 1};
  begin(world, "static");
  column(world, 4);
  update_all(world, "any", 4);
  update_all(world, "core", 4);
  EXPECT_EQ(queue_of(world, 2), (Names{"any0", "any1"}));
  EXPECT_EQ(queue_of(world, 3), (Names{"any2", "any3"}));
  EXPECT_EQ(queue_of(world, 0), (Names{"core0", "core1"}));
  EXPECT_EQ(queue_of(world, 1), (Names{"core2", "core3"}));
}

TEST_F(HeftTest, TheTilesOfALostWorkerAreDividedAmongTheOthers) {
  FakeWorld world(3);
  begin(world, "static");
  column(world, 6);
  update_all(world, "a", 6);
  policy->worker_lost(worker(1));  // its X2 and X3 go to either side
  EXPECT_EQ(queue_of(world, 0), (Names{"a0", "a1", "a2"}));
  EXPECT_EQ(queue_of(world, 2), (Names{"a4", "a5", "a3"}));
}

// First all go to their tile's worker. Then tm alternates, wherever the data are; tmdp leaves tasks with
// their tiles.
TEST_F(HeftTest, InitBindsTheFirstIteration) {
  for (const char* name : {"heft-tm-init", "heft-tmdp-init"}) {
    FakeWorld world(2);
    begin(world, name);
    column(world, 4);
    update_all(world, "a", 4);
    for (const auto& [by, first, second] : {std::tuple{0u, "a0", "a1"}, std::tuple{1u, "a2", "a3"}})
      for (const char* expected : {first, second}) {
        EXPECT_EQ(world.request(by), expected) << name;
        world.start(expected, by);
        world.finish(expected, by);
      }
    update_all(world, "b", 4);
    const bool penalty = name == std::string("heft-tmdp-init");
    EXPECT_EQ(queue_of(world, 0), penalty ? (Names{"b0", "b1"}) : (Names{"b0", "b2"})) << name;
    EXPECT_EQ(queue_of(world, 1), penalty ? (Names{"b2", "b3"}) : (Names{"b1", "b3"})) << name;
  }
}

// a0 is late: it starts at 1 ms. Static waits for it; heft copies X1, which worker 0 has, to worker 1.
TEST_F(HeftTest, InitMovesWorkAwayFromAWorkerThatIsLate) {
  for (const char* name : {"static", "heft-tmdp-init"}) {
    FakeWorld world(2);
    begin(world, name);
    column(world, 4);
    for (int i = 0; i < 4; ++i) world.load("X" + std::to_string(i), node(static_cast<unsigned>(i / 2)));
    update_all(world, "a", 4, 5);
    EXPECT_EQ(world.request(0), "a0");
    EXPECT_EQ(world.request(0), "a1");
    world.start("a1", 0);
    world.finish("a1", 0);
    world.now_ms = 1;
    world.start("a0", 0);
    for (const char* task : {"a2", "a3"}) {
      EXPECT_EQ(world.request(1), task);
      world.start(task, 1);
      world.finish(task, 1);
    }
    world.ready({"b1", {}, 5, 0, {"X1"}});  // 6 + 5 on worker 0; 1 + 2 + 5 on worker 1
    EXPECT_EQ(world.pick(name == std::string("static") ? 0 : 1), "b1") << name;
  }
}

TEST_F(HeftTest, AReturnedTaskIsStillTheFirstOfItsDatum) {
  FakeWorld world(2);
  begin(world, "heft-tm-init");
  column(world, 2);
  world.ready({"a1", {}, 9, 0, {"X1"}});
  EXPECT_EQ(world.pick(1), "a1");
  world.give_back("a1");
  EXPECT_EQ(world.pick(1), "a1");
}

}  // namespace
}  // namespace fairlead::schedule
