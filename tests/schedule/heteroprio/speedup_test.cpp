// The number of tasks from which slower workers may take some, and estimated factors.
#include "schedule/heteroprio/speedup.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "schedule/fake_world.hpp"
#include "schedule/heteroprio/kinds.hpp"

namespace fairlead::schedule::heteroprio {
namespace {

constexpr ByKind<std::size_t> machine{8, 0, 3, 0};  // eight cores, three devices

Speedup on_cuda(double factor) { return {WorkerKind::cuda, {factor, factor, factor, factor}}; }
bool cores_may_take(double factor, std::size_t waiting) {
  return is_above_threshold(on_cuda(factor), WorkerKind::cpu, waiting, cpu | cuda, machine);
}

TEST(Speedup, TheSlowKindTakesFromNTimesSTasksOn) {
  EXPECT_FALSE(cores_may_take(2, 5));
  EXPECT_TRUE(cores_may_take(2, 6));
  EXPECT_FALSE(cores_may_take(1.1, 3));
  EXPECT_TRUE(cores_may_take(1.1, 4));
}

TEST(Speedup, TheFastKindTakesAlways) {
  EXPECT_TRUE(is_above_threshold(on_cuda(30), WorkerKind::cuda, 1, cpu | cuda, machine));
}
TEST(Speedup, NoWorkerWaitsWithoutEstimates) {
  EXPECT_TRUE(is_above_threshold({}, WorkerKind::cpu, 1, cpu | cuda, machine));
}
TEST(Speedup, NoWorkerWaitsForAnAbsentKind) {
  EXPECT_TRUE(is_above_threshold(on_cuda(30), WorkerKind::cpu, 1, cpu | cuda, {8, 0, 0, 0}));
  EXPECT_TRUE(is_above_threshold(on_cuda(30), WorkerKind::cpu, 1, cpu | emulated, machine));
}

TEST(Speedup, IsAnAdvantageForOneAndADisadvantageForTheOther) {
  EXPECT_EQ(relative_speedup(on_cuda(4), WorkerKind::cuda, cpu | cuda), 4);
  EXPECT_EQ(relative_speedup(on_cuda(4), WorkerKind::cpu, cpu | cuda), 0.25);
  EXPECT_EQ(relative_speedup({}, WorkerKind::cpu, cpu | cuda), 1);
  EXPECT_EQ(relative_speedup({}, WorkerKind::cpu, cpu), std::numeric_limits<double>::infinity());
  EXPECT_EQ(relative_speedup(on_cuda(4), WorkerKind::cpu, cpu), std::numeric_limits<double>::infinity());
}
TEST(Speedup, ForTheFastestTheNextBestCounts) {
  const Speedup three{WorkerKind::cuda, {20, 3, 1, 1}};
  EXPECT_EQ(relative_speedup(three, WorkerKind::cuda, cpu | emulated | cuda), 3);
  EXPECT_EQ(relative_speedup(three, WorkerKind::emulated, cpu | emulated | cuda), 1. / 3);
}

// ---- found

TEST(SpeedupEstimate, IsTheRatioOfTheDurations) {
  SpeedupEstimate found;
  EXPECT_TRUE(found.add({ms(10), {}, ms(2), {}}, cpu | cuda));
  EXPECT_EQ(found.speedup().fastest, WorkerKind::cuda);
  EXPECT_DOUBLE_EQ(found.speedup().over[0], 5);
}

// A task that is five times as long counts five times as much.
TEST(SpeedupEstimate, IsThatOfAllTasksTogether) {
  SpeedupEstimate found;
  found.add({ms(10), {}, ms(10), {}}, cpu | cuda);
  found.add({ms(50), {}, ms(10), {}}, cpu | cuda);
  EXPECT_DOUBLE_EQ(found.speedup().over[0], 3);
}

TEST(SpeedupEstimate, ChangesOnlyNoticeably) {
  SpeedupEstimate found;
  found.add({ms(20), {}, ms(10), {}}, cpu | cuda);
  EXPECT_FALSE(found.add({ms(22), {}, ms(10), {}}, cpu | cuda));
  EXPECT_DOUBLE_EQ(found.speedup().over[0], 2);
  EXPECT_TRUE(found.add({ms(60), {}, ms(10), {}}, cpu | cuda));
  EXPECT_DOUBLE_EQ(found.speedup().over[0], 3.4);
}

TEST(SpeedupEstimate, FollowsChangedDurations) {
  SpeedupEstimate found;
  for (int i = 0; i < 1000; ++i) found.add({ms(20), {}, ms(10), {}}, cpu | cuda);
  for (int i = 0; i < 300; ++i) found.add({ms(10), {}, ms(20), {}}, cpu | cuda);
  EXPECT_EQ(found.speedup().fastest, WorkerKind::cpu);
  EXPECT_NEAR(found.speedup().over[2], 2, 0.5);
}

}  // namespace
}  // namespace fairlead::schedule::heteroprio
