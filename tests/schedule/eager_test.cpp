// First come, first served.
#include "schedule/fake_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {

TEST(Eager, TasksRunInTheOrderInWhichTheyBecameReady) {
  FakeWorld world;
  const auto eager = make_policy("eager");
  world.attach(*eager);
  world.ready({{"T1", {"A"}, 1, 0}, {"T2", {"B"}, 1, 9}, {"T3", {"A"}, 1, 5}});
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(0), "T2");
  EXPECT_EQ(world.pick(0), "T3");
  EXPECT_EQ(world.pick(0, true), "-");
}

// Worker 1 alone can run T1 and T3.
TEST(Eager, AWorkerSkipsTasksThatItCannotRunAndOthersGetThem) {
  FakeWorld world(2);
  const auto eager = make_policy("eager");
  world.attach(*eager);
  world.only_workers = {{"T1", {1}}, {"T3", {1}}};
  world.ready({{"T1", {"A"}}, {"T2", {"A"}}, {"T3", {"A"}}, {"T4", {"A"}}});
  EXPECT_EQ(world.pick(0), "T2");
  EXPECT_EQ(world.pick(0), "T4");
  EXPECT_EQ(world.pick(0), "-");
  EXPECT_EQ(world.pick(1), "T1");
  world.ready({"T5", {"A"}});
  EXPECT_EQ(world.pick(0), "T5");
  EXPECT_EQ(world.pick(1), "T3");
}

TEST(Eager, AReturnedTaskGoesToTheEnd) {
  FakeWorld world;
  const auto eager = make_policy("eager");
  world.attach(*eager);
  world.ready({{"T1", {"A"}}, {"T2", {"A"}}});
  EXPECT_EQ(world.pick(0), "T1");
  world.give_back("T1");
  EXPECT_EQ(world.pick(0), "T2");
  EXPECT_EQ(world.pick(0), "T1");
}

// One of several devices will run each task: which one is unknown.
TEST(Eager, DoesNotPrefetchForTasksThatNoWorkerHasPicked) {
  for (const char* name : {"eager", "eager:order=program", "ap"}) {
    FakeWorld world(2);
    const auto policy = make_policy(name);
    world.attach(*policy);
    world.ready({{"T1", {"A"}}, {"T2", {"C", "D"}}});
    EXPECT_EQ(world.upcoming(0, 3), Names{}) << name;
  }
}

// T1 is returned after T3 has become ready: it was submitted before both waiting tasks. Worker 0 cannot run T2.
TEST(Eager, MayUseProgramOrderInstead) {
  FakeWorld world(2);
  const auto eager = make_policy("eager:order=program");
  world.attach(*eager);
  world.only_workers = {{"T2", {1}}};
  world.ready({{"T1", {"A"}}, {"T2", {"B"}}});
  EXPECT_EQ(world.pick(0), "T1");
  world.ready({"T3", {"C"}});
  world.give_back("T1");
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(0), "T3");
  EXPECT_EQ(world.pick(0, true), "-");
  EXPECT_EQ(world.pick(1), "T2");
}

}  // namespace fairlead::schedule
