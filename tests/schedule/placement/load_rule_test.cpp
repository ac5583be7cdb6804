// owner-load against the two examples worked by hand from PaRSEC 2025 (placement), section 3.1. Times are in
// milliseconds. In both the paper's skew 0.2, 0 and 1 are compared: the default, reuse-only and load-only.
#include <gmock/gmock.h>

#include <array>

#include "schedule/placed.hpp"

namespace fairlead::schedule {
namespace {

using testing::ElementsAre;

constexpr std::array settings{"owner-load", "owner-load:tolerance=reuse-only",
                              "owner-load:tolerance=load-only"};

/// A task of 4 ms that reads A and B, both on node 0 of three, and writes C, which has no replica.
Spec task_of_example_1() { return {"T", {"A", "B"}, 4, 0, {}, {"C"}}; }
void begin_example_1(PlacedWorld& world, const std::vector<double>& loads) {
  world.begin();
  world.load("A", node(0));
  world.load("B", node(0));
  world.busy(loads);
}
std::vector<int> example_1(const std::vector<double>& loads) {
  std::vector<int> places;
  for (const char* setting : settings) {
    PlacedWorld world(3, setting);
    begin_example_1(world, loads);
    places.push_back(world.place(task_of_example_1()));
  }
  return places;
}

}  // namespace

// Completions: 13 / 12 / 11.5, 15 / 12 / 13 and 13 / 12 / 4.
TEST(LoadRule, ATaskStaysWithItsDataUnlessItFinishesMuchLater) {
  EXPECT_THAT(example_1({9, 8, 7.5}), ElementsAre(0, 0, 2));  // 13 < 1.2 x 11.5
}
TEST(LoadRule, ATaskLeavesItsDataIfItWouldFinishMuchLater) {
  EXPECT_THAT(example_1({11, 8, 9}), ElementsAre(1, 0, 1));  // 15 > 1.2 x 12
}
TEST(LoadRule, ATaskLeavesItsDataForAnIdleNode) { EXPECT_THAT(example_1({9, 8, 0}), ElementsAre(2, 0, 2)); }

TEST(LoadRule, TheLoadGrowsWithAPlacedTaskAndShrinksEquallyWhenItFinishes) {
  PlacedWorld world(3, "owner-load");
  begin_example_1(world, {9, 8, 7.5});
  EXPECT_EQ(world.place(task_of_example_1()), 0);
  EXPECT_THAT(world.loads_ms(), ElementsAre(13, 8, 7.5));
  world.times_slower[0] = 3;  // the estimate has changed
  world.admit("T");
  world.finish("T", 0);
  EXPECT_THAT(world.loads_ms(), ElementsAre(9, 8, 7.5));
}

TEST(LoadRule, TheFirstPlacementDecidesForLaterWritersRegardlessOfLoads) {
  PlacedWorld world(3, "owner-load");
  begin_example_1(world, {9, 8, 7.5});
  EXPECT_EQ(world.place(task_of_example_1()), 0);
  world.busy({1000, 0, 0});
  EXPECT_EQ(world.place({"again", {}, 4, 0, {"C"}}), 0);
}

// Two nodes with loads 20 / 20, A on node 0; each task of 2 ms reads A and writes a new datum, and none
// has finished. Inputs are copied to the task's node.
TEST(LoadRule, TasksWithTheSameInputSpreadWhenOneNodeIsLoaded) {
  const std::array<std::vector<int>, 3> places{{{0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0}, {0, 1, 0, 1, 0, 1}}};
  const std::array<std::vector<double>, 3> loads{{{26, 26}, {32, 20}, {26, 26}}};
  for (std::size_t s = 0; s < settings.size(); ++s) {
    SCOPED_TRACE(settings[s]);
    PlacedWorld world(2, settings[s]);
    world.begin();
    world.load("A", node(0));
    world.busy({20, 20});
    std::vector<int> found;
    for (int i = 1; i <= 6; ++i) {
      const std::string name = "T" + std::to_string(i);
      found.push_back(world.place({name, {"A"}, 2, 0, {}, {"C" + std::to_string(i)}}));
      world.admit(name);
    }
    EXPECT_EQ(found, places[s]);
    EXPECT_EQ(world.loads_ms(), loads[s]);
  }
}

// The tolerance is relative: 4 > 1.2 x 2.
TEST(LoadRule, WithoutLoadTasksAlternate) {
  PlacedWorld world(2, "owner-load");
  world.begin();
  world.load("A", node(0));
  std::vector<int> found;
  for (int i = 1; i <= 4; ++i)
    found.push_back(world.place({"T" + std::to_string(i), {"A"}, 2, 0, {}, {"C" + std::to_string(i)}}));
  EXPECT_THAT(found, ElementsAre(0, 1, 0, 1));
}

// 30 is 20 % above 25, and 26 is not.
TEST(LoadRule, TheToleranceCanBeSet) {
  for (const auto& [setting, place] :
       {std::pair{"owner-load:tolerance=0.1", 1}, {"owner-load:tolerance=0.3", 0}}) {
    PlacedWorld world(2, setting);
    world.begin();
    world.load("A", node(0));
    world.busy({28, 23});
    EXPECT_EQ(world.place({"T", {"A"}, 2}), place) << setting;
  }
}

// A has 3 bytes, B and C 2 each: node 1 holds 4 of 7.
TEST(LoadRule, BytesCountNotData) {
  PlacedWorld world(2, "owner-load:tolerance=reuse-only");
  world.sizes = {{"A", 3}, {"B", 2}, {"C", 2}};
  world.begin();
  world.load("A", node(0));
  world.load("B", node(1));
  world.load("C", node(1));
  EXPECT_EQ(world.place({"T", {"A", "B", "C"}}), 1);
}

TEST(LoadRule, AmongNodesWithEqualDataTheEarliestIsSelected) {
  PlacedWorld world(3, "owner-load:tolerance=reuse-only");
  world.begin();
  world.load("A", node(1));
  world.load("A", node(2));
  world.busy({0, 5, 4});
  EXPECT_EQ(world.place({"T", {"A"}}), 2);
}

// Node 0 has two workers, which run its tasks concurrently: 10 ms are 5 there, and 8 are 8 on node 1.
TEST(LoadRule, TheWorkersOfANodeShareItsLoad) {
  PlacedWorld world(2, "owner-load", 2);
  world.only_workers["ours"] = {0};
  world.only_workers["theirs"] = {2};
  world.begin();
  world.policy->worker_lost(worker(3));
  EXPECT_EQ(world.place({"ours", {}, 10}), 0);
  EXPECT_EQ(world.place({"theirs", {}, 8}), 1);
  EXPECT_EQ(world.place({"T", {}, 1}), 0);
  EXPECT_THAT(world.loads_ms(), ElementsAre(11, 8));
}

}  // namespace fairlead::schedule
