// Locality work stealing: own queue first, then half of a neighbour's, from the back.
#include "schedule/lws.hpp"

#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

TEST(Lws, AReleasedTaskStaysWithItsReleaserMostUrgentFirst) {
  FakeWorld world(2);
  const auto lws = make_lws();
  world.attach(*lws);
  world.ready({"T1", {"A"}, 1, 1}, worker(1));
  world.ready({"T2", {"A"}, 1, 3}, worker(1));
  world.ready({"T3", {"A"}, 1, 3}, worker(1));
  EXPECT_EQ(world.pick(1), "T2");  // equal priorities: submitted first
  EXPECT_EQ(world.pick(1), "T3");
  EXPECT_EQ(world.pick(1), "T1");
}

TEST(Lws, TasksWithoutAReleaserGoRoundRobin) {
  FakeWorld world(2);
  const auto lws = make_lws();
  world.attach(*lws);
  world.ready({{"T1", {"A"}}, {"T2", {"A"}}, {"T3", {"A"}}, {"T4", {"A"}}});
  EXPECT_EQ(world.pick(1), "T2");
  EXPECT_EQ(world.pick(1), "T4");
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(0), "T3");
}

// Worker 0 has five, by urgency T1 .. T5; half of five, rounded up, is T3 T4 T5.
TEST(Lws, AnIdleWorkerStealsTheLessUrgentHalf) {
  FakeWorld world(2);
  const auto lws = make_lws();
  world.attach(*lws);
  for (int i = 1; i <= 5; ++i) world.ready({"T" + std::to_string(i), {"A"}, 1, 10 - i}, worker(0));
  EXPECT_EQ(world.pick(1), "T3");
  EXPECT_EQ(world.pick(1), "T4");
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(1), "T5");
  EXPECT_EQ(world.pick(1), "T2");  // stolen again
  EXPECT_EQ(world.pick(0), "-");
  EXPECT_EQ(world.pick(1, true), "-");
}

// Workers 0 and 1 are on node 0, workers 2 and 3 on node 1.
TEST(Lws, VictimsOnTheSameNodeComeFirst) {
  FakeWorld world(2, 2);
  const auto lws = make_lws();
  world.attach(*lws);
  world.ready({"far", {"A"}}, worker(0));
  world.ready({"near", {"A"}}, worker(3));
  EXPECT_EQ(world.pick(2), "near");
  EXPECT_EQ(world.pick(2), "far");
}

TEST(Lws, AThiefTakesOnlyTasksThatItCanRun) {
  FakeWorld world(2);
  const auto lws = make_lws();
  world.attach(*lws);
  world.only_workers = {{"T2", {0}}};
  world.ready({"T1", {"A"}, 1, 2}, worker(0));
  world.ready({"T2", {"A"}, 1, 1}, worker(0));
  EXPECT_EQ(world.pick(1), "T1");
  EXPECT_EQ(world.pick(1), "-");
  EXPECT_EQ(world.pick(0), "T2");
}

TEST(Lws, TasksOfALostWorkerGoToTheOthers) {
  FakeWorld world(2);
  const auto lws = make_lws();
  world.attach(*lws);
  world.ready({"T1", {"A"}}, worker(1));
  lws->worker_lost(worker(1));
  world.ready({"T2", {"A"}}, worker(1));
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(0), "T2");
}

}  // namespace fairlead::schedule
