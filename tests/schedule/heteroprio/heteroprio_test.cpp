// The policy without locality: which worker takes a task, and which leaves it to others.
#include "schedule/heteroprio/heteroprio.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include "schedule/heteroprio/hetero_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule::heteroprio {
namespace {

/// The paper's example: TA, TC and TC' for both, TB for cores.
HeteroprioSettings example() {
  HeteroprioSettings settings;
  settings.orders[index(WorkerKind::cpu)] = {{"TA"}, {"TB"}, {"TC"}, {"TC'"}};
  settings.orders[index(WorkerKind::cuda)] = {{"TC'"}, {"TC"}, {"TA"}};
  settings.factors = {{"TA", WorkerKind::cuda, 1.1},
                      {"TB", WorkerKind::cpu, 1},
                      {"TC", WorkerKind::cuda, 1.4},
                      {"TC'", WorkerKind::cuda, 3}};
  return settings;
}
void example(HeteroWorld& world) {
  world.codelet("TA", on_both(1.1, 1));
  world.codelet("TB", {{WorkerKind::cpu, 1}});
  world.codelet("TC", on_both(1.4, 1));
  world.codelet("TC'", on_both(3, 1));
}

TEST(Heteroprio, EachKindTakesByItsOwnPriorities) {
  HeteroWorld world(1, 1);
  example(world);
  HeteroprioSettings settings = example();
  settings.factors = {{"TA", WorkerKind::cpu, 1},
                      {"TB", WorkerKind::cpu, 1},
                      {"TC", WorkerKind::cpu, 1},
                      {"TC'", WorkerKind::cpu, 1}};  // one core and one device: no worker has to wait
  world.attach(make_heteroprio(settings));
  world.ready("TC'", {"c'1", "c'2"});
  world.ready("TC", {"c1", "c2"});
  world.ready("TB", {"b1"});
  world.ready("TA", {"a1", "a2"});
  EXPECT_EQ(world.pick(core), "a1");
  EXPECT_EQ(world.pick(1), "c'1");
  EXPECT_EQ(world.pick(1), "c'2");
  EXPECT_EQ(world.pick(1), "c1");
  EXPECT_EQ(world.pick(core), "a2");
  EXPECT_EQ(world.pick(core), "b1");
  EXPECT_EQ(world.pick(core), "c2");
  EXPECT_EQ(world.pick(core), "-");
}

// Three devices, three times as fast: nine tasks of TC'.
TEST(Heteroprio, CoresLeaveTheLastTasksToTheDevices) {
  HeteroWorld world(1, 3);
  example(world);
  world.attach(make_heteroprio(example()));
  for (int i = 1; i <= 10; ++i) world.ready("TC'", Spec{"c" + std::to_string(i), {}});
  EXPECT_EQ(world.pick(core), "c1");
  EXPECT_EQ(world.pick(core), "c2");  // nine are left of them
  EXPECT_EQ(world.pick(core), "-");
  EXPECT_EQ(world.pick(1), "c3");
  world.ready("TB", {"b"});
  EXPECT_EQ(world.pick(core), "b");  // the others are open
}

TEST(Heteroprio, NoWorkerWaitsWhenNothingRuns) {
  HeteroWorld world(1, 3);
  example(world);
  world.attach(make_heteroprio(example()));
  world.ready("TC'", {"c"});
  EXPECT_EQ(world.pick(core), "-");
  EXPECT_EQ(world.pick(core, true), "c");
}

TEST(Heteroprio, WhenTheFastWorkersAreLostTheOthersTakeAll) {
  HeteroWorld world(1, 2);
  example(world);
  world.attach(make_heteroprio(example()));
  world.ready("TC'", {"c1", "c2", "c3"});
  world.policy().worker_lost(worker(1));
  EXPECT_EQ(world.pick(core), "c1");  // one device that is three times as fast: three tasks
  EXPECT_EQ(world.pick(core), "-");
  world.policy().worker_lost(worker(2));
  world.policy().worker_lost(worker(2));  // once is enough
  EXPECT_EQ(world.pick(core), "c2");
  EXPECT_EQ(world.pick(core), "c3");
}

// The first may only be on node 2, the second only on node 0, where the cores are.
TEST(Heteroprio, TasksThatFewWorkersCanRunAreFound) {
  HeteroWorld world(1, 2);
  example(world);
  world.attach(make_heteroprio(example()));
  world.exclude("at2", 0);
  world.exclude("at2", 1);
  world.exclude("at0", 1);
  world.exclude("at0", 2);
  world.ready("TC'", {"at2", "at0", "any"});
  EXPECT_EQ(world.pick(1), "any");
  EXPECT_EQ(world.pick(1), "-");
  EXPECT_EQ(world.pick(core), "at0");  // no device can have it: nothing to wait for
  EXPECT_EQ(world.pick(core, true), "-");
  EXPECT_EQ(world.pick(2), "at2");
}

// Tasks for one of the devices come before and after one for both.
TEST(Heteroprio, RestrictedTasksKeepTheirTurn) {
  HeteroWorld world(1, 2);
  example(world);
  world.attach(make_heteroprio(example()));
  world.exclude("first", 2);
  world.exclude("third", 2);
  world.ready("TC'", {"first", "second", "third"});
  EXPECT_EQ(world.pick(2), "second");
  EXPECT_EQ(world.pick(1), "first");
  EXPECT_EQ(world.pick(1), "third");
}

TEST(Heteroprio, EachWorkerOfADeviceCounts) {
  HeteroWorld world(1, 1, 3);
  example(world);
  world.attach(make_heteroprio(example()));
  for (int i = 1; i <= 9; ++i) world.ready("TC'", Spec{"c" + std::to_string(i), {}});
  EXPECT_EQ(world.pick(core), "c1");
  EXPECT_EQ(world.pick(core), "-");  // eight are fewer than 3 x 3
}

TEST(Heteroprio, AReturnedTaskComesLast) {
  HeteroWorld world(1, 1);
  example(world);
  world.attach(make_heteroprio(example()));
  world.ready("TB", {"b1", "b2"});
  EXPECT_EQ(world.pick(core), "b1");
  world.give_back("b1");
  EXPECT_EQ(world.pick(core), "b2");
  EXPECT_EQ(world.pick(core), "b1");
}

// Without bodies for cuda, its order is unknown.
TEST(Heteroprio, AFastestKindWithoutABodyIsRefused) {
  HeteroWorld world(1, 1);
  example(world);
  HeteroprioSettings settings;
  settings.factors = {{"TB", WorkerKind::cuda, 1.1}};
  world.attach(make_heteroprio(settings));
  try {
    world.ready("TB", {"b"});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("cuda is said to be the fastest for TB, which has no body"));
  }
}

// All devices would fetch the data, and only one needs them.
TEST(Heteroprio, DoesNotPrefetchForTasksThatNoWorkerHasTaken) {
  HeteroWorld world(1, 1);
  example(world);
  world.attach(make_heteroprio(example()));
  world.ready("TC", {"c", {"C1", "C2"}});
  EXPECT_EQ(world.upcoming(1, 8), Names{});
}

// ---- found by itself

TEST(Heteroprio, WithoutSettingsEachKindDoesWhatItIsBestAt) {
  HeteroWorld world(1, 1);
  world.codelet("small", on_both(2, 1));
  world.codelet("big", on_both(10, 1));
  world.codelet("serial", on_both(1, 4));
  world.codelet("only", {{WorkerKind::cpu, 1}});
  world.attach(make_policy("heteroprio"));
  for (const char* name : {"small", "big", "serial", "only"})
    for (int i = 1; i <= 12; ++i) world.ready(name, Spec{name + std::to_string(i), {}});
  EXPECT_EQ(world.pick(1), "big1");
  for (int i = 1; i <= 12; ++i) EXPECT_EQ(world.pick(core), "only" + std::to_string(i));
  EXPECT_EQ(world.pick(core), "serial1");
  for (int i = 2; i <= 12; ++i) EXPECT_EQ(world.pick(1), "big" + std::to_string(i));
  EXPECT_EQ(world.pick(1), "small1");
  for (int i = 2; i <= 12; ++i) EXPECT_EQ(world.pick(core), "serial" + std::to_string(i));
  for (int i = 2; i <= 11; ++i) EXPECT_EQ(world.pick(core), "small" + std::to_string(i));
  EXPECT_EQ(world.pick(core), "-");  // the device is so fast that waiting pays
  EXPECT_EQ(world.pick(1), "small12");
}

TEST(Heteroprio, EachKindTriesTasksWithoutEstimates) {
  HeteroWorld world(1, 1);
  world.codelet("gemm", on_both(10, 1));
  world.guesses = {{"gemm", WorkerKind::cpu}};
  world.attach(make_policy("heteroprio"));
  world.ready("gemm", {"g1", "g2"});
  EXPECT_EQ(world.pick(core), "g1");
  world.guesses.clear();
  world.ready("gemm", {"g3"});
  EXPECT_EQ(world.pick(core), "-");
  EXPECT_EQ(world.pick(1), "g2");
}

// gemm becomes faster on cores during the run.
TEST(Heteroprio, FactorsFollowTheEstimates) {
  HeteroWorld world(1, 1);
  world.codelet("gemm", on_both(10, 1));
  world.attach(make_policy("heteroprio"));
  world.ready("gemm", {"g0"});
  EXPECT_EQ(world.pick(core), "-");
  world.codelet("gemm", on_both(0.1, 1));
  for (int i = 1; i <= 300; ++i) world.ready("gemm", Spec{"g" + std::to_string(i), {}});
  for (int i = 0; i <= 300; ++i) ASSERT_EQ(world.pick(core), "g" + std::to_string(i));
}

TEST(Heteroprio, EmulatedDevicesAreAKindOfTheirOwn) {
  HeteroWorld world(1, 1, 1, WorkerKind::emulated);
  world.codelet("gemm", {{WorkerKind::cpu, 4}, {WorkerKind::emulated, 1}});
  world.attach(make_policy("heteroprio"));
  world.ready("gemm", {"g1", "g2"});
  EXPECT_EQ(world.pick(core), "-");
  EXPECT_EQ(world.pick(1), "g1");
}

}  // namespace
}  // namespace fairlead::schedule::heteroprio
