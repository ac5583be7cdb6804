// AP by hand, with both rules for priorities.
#include "schedule/ap.hpp"

#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

// "first" takes 1 ms but 5 ms of work wait for it: 6. "alone" takes 3.
TEST(Ap, TheTaskWithTheLongestPathToTheEndComesFirst) {
  FakeWorld world;
  const auto ap = make_ap();
  world.attach(*ap);
  world.submit_ready({"alone", {}, 3, 9, {"B"}});
  world.submit_ready({"first", {}, 1, 0, {"A"}});
  ap->submitted(world.submit({"later", {"A"}, 5}));
  ap->horizon_closed();
  EXPECT_EQ(world.pick(0), "first");
  EXPECT_EQ(world.pick(0), "alone");
  EXPECT_EQ(world.pick(0), "-");
}

TEST(Ap, EqualLevelsGoByTheUsersPriorityThenByArrival) {
  FakeWorld world;
  const auto ap = make_ap();
  world.attach(*ap);
  for (const Spec& spec : {Spec{"T1", {"A"}, 1, 1}, Spec{"T2", {"A"}, 1, 2}, Spec{"T3", {"B"}, 1, 2}})
    world.submit_ready(spec);
  EXPECT_EQ(world.pick(0), "T2");
  EXPECT_EQ(world.pick(0), "T3");
  EXPECT_EQ(world.pick(0), "T1");
}

// Worker 1 is on another node, and cannot run the head.
TEST(Ap, AllWorkersShareTheQueueAndTakeTheFirstThatTheyCanRun) {
  FakeWorld world(2);
  world.only_workers["T1"] = {0};
  const auto ap = make_ap();
  world.attach(*ap);
  world.submit_ready({"T1", {}, 9});
  world.submit_ready({"T2", {}, 5});
  world.submit_ready({"T3", {}, 7});
  EXPECT_EQ(world.pick(1), "T3");
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(0), "T2");
}

// Four rows of tiles: potrf(0) 64; trsm(1,0) 27 + 3 x 6 = 45, trsm(2,0) 8 + 3 x 2 x 5 = 38, trsm(3,0)
// 1 + 3 x 3 x 4 = 37; herk(0,1) 27 + 3 = 30, herk(0,2) 8 + 6 = 14; gemm(2,1,0) 8 + 3 x 2 + 6 x 2 = 26,
// gemm(3,1,0) 1 + 3 x 2 x 1 + 6 x 3 = 25. Durations would say otherwise.
TEST(ApDplasma, PrioritiesAreThoseOfTheFormula) {
  FakeWorld world;
  const auto ap = make_ap_dplasma();
  world.attach(*ap);
  for (int m = 0; m < 4; ++m)
    for (int n = 0; n <= m; ++n) world.tiles[std::to_string(m) + std::to_string(n)] = {m, n};
  world.submit_ready({"gemm 310", {"30", "10"}, 1, 0, {"31"}});
  world.submit_ready({"gemm 210", {"20", "10"}, 2, 0, {"21"}});
  world.submit_ready({"herk 2", {"20"}, 3, 0, {"22"}});
  world.submit_ready({"herk 1", {"10"}, 4, 0, {"11"}});
  world.submit_ready({"trsm 3", {"00"}, 5, 0, {"30"}});
  world.submit_ready({"trsm 2", {"00"}, 6, 0, {"20"}});
  world.submit_ready({"trsm 1", {"00"}, 7, 0, {"10"}});
  world.submit_ready({"potrf", {}, 8, 0, {"00"}});
  ap->horizon_closed();
  for (const char* expected :
       {"potrf", "trsm 1", "trsm 2", "trsm 3", "herk 1", "gemm 210", "gemm 310", "herk 2"})
    EXPECT_EQ(world.pick(0), expected);
}

// Without coordinates the formula does not apply.
TEST(ApDplasma, OtherTasksGoByTheirBottomLevel) {
  FakeWorld world;
  const auto ap = make_ap_dplasma();
  world.attach(*ap);
  world.submit_ready({"short", {"A"}, 1});
  world.submit_ready({"long", {"B"}, 2});
  EXPECT_EQ(world.pick(0), "long");
  EXPECT_EQ(world.pick(0), "short");
}

}  // namespace fairlead::schedule
