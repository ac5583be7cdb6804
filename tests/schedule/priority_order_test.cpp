// One queue by priority; a worker gets a task of some length only when it is free.
#include "schedule/priority_order.hpp"

#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

TEST(Urgent, AFreeWorkerTakesTheMostUrgentTaskThenTheOldest) {
  FakeWorld world(1, 2);
  const auto priority = make_urgent();
  world.attach(*priority);
  world.load("A", node(0));
  world.ready({{"T1", {"A"}, 1, 1}, {"T2", {"A"}, 1, 3}, {"T3", {"A"}, 1, 3}});
  EXPECT_EQ(world.pick(0), "T2");
  EXPECT_EQ(world.pick(1), "T3");
  world.finish("T2", 0);
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(0, true), "-");
}

TEST(Urgent, TasksAreNotPickedAhead) {
  for (const bool is_long : {true, false}) {
    FakeWorld world;
    const auto priority = make_urgent();
    world.attach(*priority);
    world.load("A", node(0));
    const double length_ms = is_long ? 0.1 : 0.09;
    world.ready({{"T1", {"A"}, length_ms}, {"T2", {"A"}, length_ms}});
    EXPECT_EQ(world.pick(0), "T1");
    EXPECT_EQ(world.pick(0), is_long ? "-" : "T2");
    world.ready({"panel", {"A"}, length_ms, 1});
    world.finish("T1");
    EXPECT_EQ(world.pick(0), "panel");
  }
}

TEST(Urgent, AReturnedTaskOrOneFromTakeAnyCountsNoLonger) {
  FakeWorld world;
  const auto priority = make_urgent();
  world.attach(*priority);
  world.load("A", node(0));
  world.ready({{"T1", {"A"}}, {"T2", {"A"}}});
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(0), "-");
  EXPECT_EQ(world.pick(0, true), "T2");
  world.finish("T2");
  world.give_back("T1");
  EXPECT_EQ(world.pick(0), "T1");
}

TEST(Urgent, TasksWithPresentDataComeFirstAndOneOfTheOthersIsPickedAhead) {
  FakeWorld world;
  const auto priority = make_urgent();
  world.attach(*priority);
  world.load("B", node(0));
  world.ready({{"T1", {"A"}, 1, 5}, {"T2", {"B"}, 1, 1}, {"T3", {"C"}, 1, 4}});
  EXPECT_EQ(world.pick(0), "T2");
  EXPECT_EQ(world.pick(0), "T1");  // A is fetched
  EXPECT_EQ(world.pick(0), "-");
  EXPECT_TRUE(priority->keeps_pipelines_short());
  EXPECT_EQ(world.upcoming(0, 2), (Names{"C"}));
  EXPECT_EQ(world.pick(0, true), "T3");
}

// The first two tasks of the program become ready last.
TEST(ProgramOrder, OfEquallyUrgentTasksTheFirstOfTheProgramComesFirst) {
  for (const bool by_program : {false, true}) {
    FakeWorld world;
    const auto order = by_program ? make_program_order() : make_urgent();
    world.attach(*order);
    world.load("A", node(0));
    world.submit({"T1", {"A"}, 1});
    world.submit({"T2", {"A"}, 1});
    world.ready({{"T3", {"A"}, 1}, {"T4", {"A"}, 1, 1}});
    world.make_ready("T2");
    world.make_ready("T1");
    Names names;
    for (int i = 0; i < 4; ++i) {
      names.push_back(world.pick(0));
      world.finish(names.back());
    }
    EXPECT_EQ(names, by_program ? (Names{"T4", "T1", "T2", "T3"}) : (Names{"T4", "T3", "T2", "T1"}));
  }
}

}  // namespace fairlead::schedule
