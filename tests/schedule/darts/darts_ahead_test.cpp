// The variants of darts that look ahead.
#include "schedule/darts/darts_ahead.hpp"

#include <optional>

#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

struct DartsAheadTest : testing::Test {
  void start(DartsVariant variant) {
    policy.emplace(variant, DartsRules{});
    world.attach(*policy);
  }
  void submit(const Spec& spec) { policy->submitted(world.submit(spec)); }
  void ready(const std::string& name) {
    world.task(name).state = TaskState::ready;
    policy->ready(world.task(name), no_id<WorkerId>);
  }
  FakeWorld world;
  std::optional<DartsAhead> policy;
};

// One update of X (1 ms, with another of 1 ms that can follow it) against one of Y (1.5 ms).
TEST_F(DartsAheadTest, ChainLoadsTheTileThatAllItsRunnableUpdatesMakeWorthwhile) {
  for (const bool chain : {true, false}) {
    SCOPED_TRACE(chain);
    FakeWorld fresh;
    DartsAhead ahead(DartsVariant::chain, {});
    Darts plain;
    Policy& policy_used = chain ? static_cast<Policy&>(ahead) : plain;
    fresh.attach(policy_used);
    for (const Spec& spec :
         {Spec{"X1", {}, 1, 0, {"X"}}, Spec{"X2", {}, 1, 0, {"X"}}, Spec{"Y1", {}, 1.5, 0, {"Y"}}})
      policy_used.submitted(fresh.submit(spec));
    for (const auto* name : {"X1", "Y1"}) policy_used.ready(fresh.task(name), no_id<WorkerId>);
    EXPECT_EQ(fresh.pick(0), chain ? "X1" : "Y1");
  }
}

// X2 needs what B1 makes; X1 could run now, but X would be loaded for one update only.
TEST_F(DartsAheadTest, DeferWaitsForTheSecondUpdateOfATile) {
  start(DartsVariant::defer);
  submit({"X1", {}, 9, 9, {"X"}});
  submit({"B1", {}, 1, 0, {"B"}});
  submit({"B2", {}, 1, 0, {"B"}});
  submit({"X2", {"B"}, 1, 0, {"X"}});
  submit({"C1", {}, 1, 0, {"C"}});
  for (const auto* name : {"X1", "B1", "C1"}) ready(name);
  EXPECT_EQ(world.request(0), "B1");
  world.finish("B1");
  ready("B2");
  EXPECT_EQ(world.request(0), "B2");
  world.finish("B2");  // unlocks X2
  EXPECT_EQ(world.request(0), "X1");
}

TEST_F(DartsAheadTest, DeferDoesNotWaitWhenThereIsNothingElseToDo) {
  start(DartsVariant::defer);
  submit({"X1", {}, 1, 0, {"X"}});
  submit({"B1", {}, 1, 0, {"B"}});
  submit({"X2", {"B"}, 1, 0, {"X"}});
  ready("X1");
  EXPECT_EQ(world.pick(0), "X1");
  EXPECT_EQ(world.pick(0, true), "-");
}

TEST_F(DartsAheadTest, DeferDoesNotWaitForTheLastUpdateNorForATileInMemory) {
  start(DartsVariant::defer);
  world.load("X", node(0));
  submit({"X1", {"A"}, 9, 0, {"X"}});
  submit({"Y1", {"A"}, 8, 0, {"Y"}});
  submit({"B1", {}, 1, 0, {"B"}});
  submit({"X2", {"B"}, 1, 0, {"X"}});
  for (const auto* name : {"X1", "Y1", "B1"}) ready(name);
  EXPECT_EQ(world.request(0), "X1");
  EXPECT_EQ(world.request(0), "Y1");
}

}  // namespace fairlead::schedule
