// Slower workers leave tasks to faster ones, unless those have too much to do.
#include "schedule/patience.hpp"

#include <memory>

#include "schedule/fake_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {
namespace {

/// Worker 0 is a core, worker 1 a device; a task takes 1 ms there, and on the core `slower` times as long.
class CoreAndDevice : public FakeWorld {
 public:
  const std::unique_ptr<Policy> policy;

  explicit CoreAndDevice(const char* name = "eager", double slower = 10)
      : FakeWorld(2), policy(make_policy(name)) {
    kind(0, WorkerKind::cpu);
    times_slower[0] = slower;
    attach(*policy);
  }
  void ready_tasks(int first, int last) {
    for (int i = first; i <= last; ++i) ready({"T" + std::to_string(i), {"A"}});
  }
};

constexpr const char* impatient[] = {"eager",        "lws",         "lfq",         "ap",        "darts",
                                     "darts-belady", "darts-chain", "darts-defer", "ap-dplasma"};

}  // namespace

// The device is done with all three before the core with one.
TEST(Patience, ASlowCoreLeavesAFewTasksToTheDevice) {
  for (const char* name : impatient) {
    SCOPED_TRACE(name);
    CoreAndDevice world(name);
    world.in_place("A", node(0));
    world.ready_tasks(1, 3);
    EXPECT_EQ(world.pick(0), "-");
    for (int i = 0; i < 3; ++i) EXPECT_NE(world.pick(1), "-");
    EXPECT_EQ(world.pick(1), "-");
  }
}

// It takes 10 ms; the device 13 for the tasks before the fourteenth, which is enough ahead of the core's end.
TEST(Patience, OfManyTheCoreTakesThoseThatItIsDoneWithSooner) {
  CoreAndDevice world;
  world.ready_tasks(1, 16);
  EXPECT_EQ(world.pick(0), "T14");
  EXPECT_EQ(world.pick(0), "-");  // behind that it would be done in 20 ms
  EXPECT_EQ(world.pick(1), "T1");
}

TEST(Patience, WhatIsLeftOverGoesToTheDeviceInTheEnd) {
  CoreAndDevice world;
  world.ready_tasks(1, 16);
  for (int i = 1; i <= 16; ++i) EXPECT_NE(world.pick(1), "-");
  EXPECT_EQ(world.pick(1), "-");
}

TEST(Patience, WhenTheDeviceIsNearlyDoneTheCoreTakesNoMore) {
  CoreAndDevice world;
  world.ready_tasks(1, 16);
  for (int i = 1; i <= 8; ++i) world.pick(1);
  EXPECT_EQ(world.pick(0), "-");
  for (int i = 9; i <= 16; ++i) EXPECT_NE(world.pick(1), "-");
}

TEST(Patience, WhatOnlyCoresCanRunTheyTakeAtOnce) {
  for (const char* name : impatient) {
    SCOPED_TRACE(name);
    CoreAndDevice world(name);
    world.only_workers = {{"P", {0}}};
    world.ready({"P", {"A"}});
    EXPECT_EQ(world.pick(1), "-");
    EXPECT_EQ(world.pick(0), "P");
  }
}

// A factorization's small tasks, say.
TEST(Patience, TheDeviceLeavesToTheCoreWhatThatIsBetterAt) {
  CoreAndDevice world("eager", 0.1);
  world.ready_tasks(1, 2);
  EXPECT_EQ(world.pick(1), "-");
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(0), "T2");
}

TEST(Patience, AKindWhoseEstimatesAreGuessesTriesATask) {
  CoreAndDevice world;
  world.unknown_on = {0};
  world.ready_tasks(1, 3);
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(1), "T2");
}

// Nothing runs and the device does not ask: it may be away.
TEST(Patience, IfNothingElseRunsTheCoreGetsAnyTask) {
  for (const char* name : impatient) {
    SCOPED_TRACE(name);
    CoreAndDevice world(name);
    world.in_place("A", node(0));
    world.ready_tasks(1, 3);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(world.pick(0, true), "-");
      EXPECT_NE(world.policy->take_any(worker(0)), nullptr);
    }
    EXPECT_EQ(world.policy->take_any(worker(0)), nullptr);
  }
}

TEST(Patience, WhatALostDeviceWasToRunTheCoreRuns) {
  for (const char* name : impatient) {
    SCOPED_TRACE(name);
    CoreAndDevice world(name);
    world.in_place("A", node(0));
    world.ready_tasks(1, 30);  // some of them left over
    world.policy->worker_lost(worker(1));
    world.ready_tasks(31, 32);
    for (int i = 0; i < 32; ++i) EXPECT_NE(world.pick(0), "-");
    EXPECT_EQ(world.pick(0), "-");
  }
}

TEST(Patience, GivenBackOrCancelledTasksLeaveNothingBehind) {
  CoreAndDevice world;
  world.ready_tasks(1, 3);
  EXPECT_EQ(world.pick(1), "T1");
  world.give_back("T1");
  EXPECT_EQ(world.pick(0), "-");
  for (const char* name : {"T2", "T3", "T1"}) EXPECT_EQ(world.pick(1), name);
  world.policy->cancelled(world.task("T1"));
  EXPECT_EQ(world.pick(0), "-");
}

// The device waits 19 ms for each task's data: the core is over sooner, although it computes ten times as
// long.
TEST(Patience, ADeviceThatWaitsForItsLinkIsNotThatFast) {
  CoreAndDevice world;
  world.ready_tasks(1, 4);
  for (int i = 1; i <= 4; ++i) {
    EXPECT_EQ(world.pick(1), "T" + std::to_string(i));
    world.now_ms += 20;
  }
  world.ready_tasks(5, 6);
  EXPECT_EQ(world.pick(0), "T5");
}

TEST(Patience, WorkersOfOneKindAreNotPatient) {
  FakeWorld world(2);
  world.times_slower[0] = 10;
  const auto eager = make_policy("eager");
  world.attach(*eager);
  world.ready({{"T1", {"A"}}, {"T2", {"A"}}});
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(1), "T2");
}

}  // namespace fairlead::schedule
