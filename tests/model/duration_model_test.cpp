// Estimates of the duration model: from tasks of the same footprint, from other sizes, from the codelet's formula,
// or unknown.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "model/codelets.hpp"

namespace fairlead {

using model::Basis;
using model::DurationModel;
using model::Estimate;
using tests::cpu;
using tests::data_of;
using tests::ms;
using tests::named;
using tests::us;

namespace {

const model::Processor gpu(WorkerKind::emulated);

void run(DurationModel& model, const CodeletInfo& codelet, const model::Processor& kind,
         const model::Footprint& footprint, int times, std::int64_t duration_ns) {
  for (int i = 0; i < times; ++i)
    if (model.should_record(codelet, kind)) model.record(codelet, kind, footprint, Duration(duration_ns));
}

}  // namespace

TEST(DurationModel, HasNoEstimateForACodeletThatNeverRan) {
  const DurationModel model;
  const Estimate estimate = model.estimate(named("gemm"), cpu, data_of({1000}));
  EXPECT_FALSE(estimate.known());
  EXPECT_GT(estimate.duration.count(), 0);
}

// A policy that tries each kind of worker until there is an estimate needs few tasks.
TEST(DurationModel, HasAnEstimateAfterFiveTasks) {
  DurationModel model;
  const auto gemm = named("gemm");
  run(model, gemm, cpu, data_of({1000}), 4, 5 * ms);
  EXPECT_FALSE(model.estimate(gemm, cpu, data_of({1000})).known());
  run(model, gemm, cpu, data_of({1000}), 1, 5 * ms);
  EXPECT_TRUE(model.estimate(gemm, cpu, data_of({1000})).known());
}

TEST(DurationModel, DistinguishesCodeletsWorkerKindsAndFootprints) {
  DurationModel model;
  const auto gemm = named("gemm"), trsm = named("trsm");
  run(model, gemm, cpu, data_of({1000, 1000}), 10, 5 * ms);
  run(model, gemm, gpu, data_of({1000, 1000}), 10, 1 * ms);
  run(model, gemm, cpu, data_of({2000, 500}), 10, 7 * ms);
  run(model, trsm, cpu, data_of({1000, 1000}), 10, 3 * ms);
  EXPECT_EQ(model.estimate(gemm, cpu, data_of({1000, 1000})).duration.count(), 5 * ms);
  EXPECT_EQ(model.estimate(gemm, gpu, data_of({1000, 1000})).duration.count(), 1 * ms);
  EXPECT_EQ(model.estimate(gemm, cpu, data_of({2000, 500})).duration.count(), 7 * ms);
  EXPECT_EQ(model.estimate(trsm, cpu, data_of({1000, 1000})).duration.count(), 3 * ms);
  EXPECT_FALSE(model.estimate(trsm, gpu, data_of({1000, 1000})).known());
}

// Two devices of one kind, the second half as fast: each has its own estimates.
TEST(DurationModel, DistinguishesFastDevicesFromSlowOnes) {
  DurationModel model;
  const auto gemm = named("gemm");
  const model::Processor fast(WorkerKind::emulated, "1 of a core"),
      slow(WorkerKind::emulated, "0.5 of a core");
  run(model, gemm, fast, data_of({1000}), 10, 5 * ms);
  EXPECT_FALSE(model.estimate(gemm, slow, data_of({1000})).known());
  run(model, gemm, slow, data_of({1000}), 10, 10 * ms);
  EXPECT_EQ(model.estimate(gemm, fast, data_of({1000})).duration.count(), 5 * ms);
  DurationModel next;
  next.start_with(model.learned());
  EXPECT_EQ(next.estimate(gemm, slow, data_of({1000})).duration.count(), 10 * ms);
}

// A codelet is identified by its name: another object may have the address of a destroyed one.
TEST(DurationModel, IdentifiesACodeletByNameNotByAddress) {
  DurationModel model;
  CodeletInfo codelet = named("slow");
  run(model, codelet, cpu, data_of({8}), 10, 5 * ms);
  codelet = named("fast");
  EXPECT_FALSE(model.estimate(codelet, cpu, data_of({8})).known());
  EXPECT_EQ(model.estimate(named("slow"), cpu, data_of({8})).duration.count(), 5 * ms);
}

TEST(DurationModel, InterpolatesBetweenTwoSizes) {
  DurationModel model;
  const auto gemm = named("gemm");
  run(model, gemm, cpu, data_of({1'000'000}), 10, 10 * ms);
  EXPECT_FALSE(
      model.estimate(gemm, cpu, data_of({2'000'000})).known());  // one size does not determine the growth
  run(model, gemm, cpu, data_of({4'000'000}), 10, 80 * ms);
  const Estimate estimate = model.estimate(gemm, cpu, data_of({2'000'000}));
  EXPECT_EQ(estimate.basis, Basis::regression);
  EXPECT_NEAR(static_cast<double>(estimate.duration.count()), 28.3e6, 0.3e6);  // bytes to the power of 1.5
}

TEST(DurationModel, ScalesByOperationsIfTheCodeletCountsThem) {
  DurationModel model;
  const auto gemm = named("gemm", WorkUnit::flops);
  run(model, gemm, cpu, data_of({1000, 1000}, 1e9), 10, 10 * ms);
  const Estimate estimate = model.estimate(gemm, cpu, data_of({1000, 1000}, 3e9));
  EXPECT_TRUE(estimate.known());
  EXPECT_NEAR(static_cast<double>(estimate.duration.count()), 30e6, 0.1e6);
}

TEST(DurationModel, UsesTheUsersDurationUntilTasksHaveBeenMeasured) {
  DurationModel model;
  const auto wait = named("wait", WorkUnit::nanoseconds);
  EXPECT_EQ(model.estimate(wait, cpu, data_of({8}, 5e6)).duration.count(), 5 * ms);
  EXPECT_EQ(model.estimate(wait, cpu, data_of({8}, 5e6)).basis, Basis::formula);
  EXPECT_FALSE(
      model.estimate(wait, gpu, data_of({8}, 5e6)).known());  // the user's duration is for a CPU core
  run(model, wait, cpu, data_of({8}, 5e6), 10, 8 * ms);
  EXPECT_EQ(model.estimate(wait, cpu, data_of({8}, 5e6)).duration.count(), 8 * ms);
  // Other sizes get the correction of the measured ones.
  EXPECT_NEAR(static_cast<double>(model.estimate(wait, cpu, data_of({8}, 10e6)).duration.count()), 16e6,
              0.1e6);
}

// Sparse matrices: every task has different sizes. Histories stay bounded, and estimates accurate.
TEST(DurationModel, StaysSmallWhenEveryTaskHasDifferentSizes) {
  DurationModel model;
  const auto update = named("update");
  Random random(3);
  for (int i = 0; i < 50'000; ++i) {
    const Bytes bytes = 10'000 + random.below(1'000'000);
    run(model, update, cpu, data_of({bytes}), 1, static_cast<std::int64_t>(bytes) * 10);
  }
  EXPECT_LE(model.learned().size(), DurationModel::most_footprints + 8 * 7 + 8);
  for (const Bytes bytes : {20'000u, 300'001u, 777'777u}) {
    const Estimate estimate = model.estimate(update, cpu, data_of({bytes}));
    EXPECT_TRUE(estimate.known());
    EXPECT_NEAR(static_cast<double>(estimate.duration.count()), static_cast<double>(bytes) * 10,
                static_cast<double>(bytes) * 1.5);
  }
}

// One in forty tiny tasks is recorded: enough to detect soon that they became long.
TEST(DurationModel, AdaptsToTinyTasksThatBecomeLong) {
  DurationModel model;
  const auto empty = named("empty");
  int wanted = 0;
  for (int i = 0; i < 1000; ++i) {
    wanted += model.should_record(empty, cpu);
    model.record(empty, cpu, data_of({8}), Duration(0));
  }
  run(model, empty, cpu, data_of({8}), 500, 100);
  wanted = 0;
  for (int i = 0; i < 1600; ++i)
    if (model.should_record(empty, cpu)) {
      ++wanted;
      model.record(empty, cpu, data_of({8}), Duration(100));
    }
  EXPECT_LT(wanted, 60);
  EXPECT_GT(wanted, 25);
  run(model, empty, cpu, data_of({8}), 56 + 40, 1 * ms);
  EXPECT_EQ(model.estimate(empty, cpu, data_of({8})).duration.count(), 1 * ms);
  EXPECT_TRUE(model.should_record(empty, cpu));  // and now all are
}

// Two tiny footprints that alternate are both recorded.
TEST(DurationModel, RecordsEachFootprintEventually) {
  DurationModel model;
  const auto empty = named("empty");
  for (int i = 0; i < 4096; ++i) run(model, empty, cpu, data_of({Bytes(8 + i % 16)}), 1, 100 + i % 16);
  for (int i = 0; i < 4096; ++i) run(model, empty, cpu, data_of({Bytes(8 + i % 16)}), 1, 500 + i % 16);
  for (int i = 0; i < 40'000; ++i) run(model, empty, cpu, data_of({Bytes(8 + i % 16)}), 1, 900 + i % 16);
  for (unsigned size = 0; size < 16; ++size)
    EXPECT_EQ(model.estimate(empty, cpu, data_of({8 + size})).duration.count(), 900 + size);
}

TEST(DurationModel, StartsWithTheDataOfAnotherModel) {
  DurationModel first;
  const auto gemm = named("gemm"), counted = named("gemm", WorkUnit::flops);
  run(first, gemm, gpu, data_of({1000, 1000}), 40, 5 * ms);
  run(first, counted, cpu, data_of({1000}, 1e9), 40, 7 * ms);
  run(first, named("once"), cpu, data_of({8}), 1, 5 * ms);  // too little to be kept
  const model::KeptDurations kept = first.learned();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].tasks, 40u);
  DurationModel second;
  second.start_with(kept);
  EXPECT_EQ(second.estimate(gemm, gpu, data_of({1000, 1000})).duration.count(), 5 * ms);
  EXPECT_EQ(second.estimate(gemm, gpu, data_of({1000, 1000})).basis, Basis::history);
  EXPECT_EQ(second.estimate(counted, cpu, data_of({1000}, 1e9)).duration.count(), 7 * ms);
  EXPECT_TRUE(second.learned().empty());  // nothing new
}

TEST(DurationModel, PredictsOtherSizesFromManyKeptOnes) {
  DurationModel first;
  const auto gemm = named("gemm");
  for (Bytes bytes = 1; bytes <= 20; ++bytes)
    run(first, gemm, cpu, data_of({bytes * 1000}), 6, static_cast<std::int64_t>(bytes) * ms);
  DurationModel next;
  next.start_with(first.learned());
  const Estimate estimate = next.estimate(gemm, cpu, data_of({10'500}));
  EXPECT_EQ(estimate.basis, Basis::regression);
  EXPECT_NEAR(static_cast<double>(estimate.duration.count()), 10.5 * ms, 0.1 * ms);
}

TEST(DurationModel, GrowsBeyondTheFirstTableOfFootprints) {
  DurationModel model;
  const auto gemm = named("gemm");
  for (Bytes bytes = 1; bytes <= 200; ++bytes)
    run(model, gemm, cpu, data_of({bytes * 1000}), 6, static_cast<std::int64_t>(bytes) * ms);
  for (Bytes bytes = 1; bytes <= 200; ++bytes)
    EXPECT_EQ(model.estimate(gemm, cpu, data_of({bytes * 1000})).duration.count(),
              static_cast<std::int64_t>(bytes) * ms);
}

}  // namespace fairlead
