// Selection among several implementations of a codelet, with durations computed by hand.
#include <gtest/gtest.h>

#include <array>

#include "model/chooser.hpp"
#include "model/codelets.hpp"

namespace fairlead {

using model::DurationModel;
using model::ImplementationChooser;
using tests::cpu;
using tests::data_of;
using tests::ms;
using tests::named;

namespace {

CodeletInfo with_bodies(std::initializer_list<const char*> names, WorkUnit unit = WorkUnit::none) {
  CodeletInfo codelet = named("gemm", unit);
  codelet.kinds = 0;
  for (const char* name : names) codelet.implement(WorkerKind::cpu, {nullptr, nullptr, false, name});
  return codelet;
}

/// A worker that runs one task at a time; implementation k takes `takes[k]`.
struct Worker {
  DurationModel model;
  ImplementationChooser chooser{model};
  CodeletInfo codelet = with_bodies({"blas", "small"});
  model::Footprint size = data_of({1000});
  std::array<std::int64_t, 4> takes{5 * ms, 2 * ms};

  unsigned run() {
    const unsigned chosen = chooser.choose(codelet, cpu, size);
    const Duration duration(takes[chosen]);
    model.record(codelet, cpu, size, duration, chosen);
    chooser.over(codelet, cpu, size, chosen, duration, true);
    return chosen;
  }
  /// Number of tasks that each implementation ran.
  std::array<int, 4> run(int tasks) {
    std::array<int, 4> count{};
    while (tasks-- > 0) ++count[run()];
    return count;
  }
};

}  // namespace

TEST(ImplementationChooser, TriesEachUntilItsDurationIsKnownThenSelectsTheFastest) {
  Worker worker;
  EXPECT_EQ(worker.run(10), (std::array<int, 4>{5, 5, 0, 0}));
  EXPECT_EQ(worker.run(96), (std::array<int, 4>{0, 96, 0, 0}));
}

// A trial run of 5 ms costs 3 ms more than the 2 ms of the fastest. It is due when 64 times that have passed:
// after 96 tasks.
TEST(ImplementationChooser, RepeatsTrialRunsWhenTheyCostLittle) {
  Worker worker;
  worker.run(10 + 96);
  EXPECT_EQ(worker.run(), 0u);
  EXPECT_EQ(worker.run(96), (std::array<int, 4>{0, 96, 0, 0}));
  EXPECT_EQ(worker.run(), 0u);
}

// Independent of the number and the durations of the other implementations.
TEST(ImplementationChooser, SpendsOneSixtyFourthOfTheTimeOnTrialRuns) {
  Worker worker;
  worker.codelet = with_bodies({"a", "b", "c", "d"});
  worker.takes = {1 * ms, 1 * ms + 1, 3 * ms, 500 * ms};
  worker.run(20);
  std::int64_t fastest = 0, wasted = 0;
  for (int i = 0; i < 400'000; ++i) {
    const std::int64_t duration = worker.takes[worker.run()];
    fastest += 1 * ms;
    wasted += duration - 1 * ms;
  }
  EXPECT_GT(wasted, fastest / 200);
  EXPECT_LE(wasted, fastest / 64);
}

// Expected 3 ms, measured 3 s: the cost is amortized before the next trial run.
TEST(ImplementationChooser, AmortizesATrialRunThatCostMoreThanExpected) {
  Worker worker;
  worker.takes = {3 * ms, 2 * ms};
  worker.run(10 + 64);
  worker.takes[0] = 3000 * ms;
  EXPECT_EQ(worker.run(), 0u);
  EXPECT_EQ(worker.run(64 * 2998 / 2)[0], 0);
}

TEST(ImplementationChooser, SelectsByTheSizeOfTheData) {
  Worker worker;
  const model::Footprint small = data_of({1000}), large = data_of({1'000'000});
  for (int i = 0; i < 40; ++i) {
    worker.size = i % 2 == 0 ? small : large;
    worker.takes = i % 2 == 0 ? std::array<std::int64_t, 4>{2 * ms, 1 * ms}
                              : std::array<std::int64_t, 4>{40 * ms, 90 * ms};
    worker.run();
  }
  worker.size = small;
  worker.takes = {2 * ms, 1 * ms};
  EXPECT_EQ(worker.run(10)[1], 10);
  worker.size = large;
  worker.takes = {40 * ms, 90 * ms};
  EXPECT_EQ(worker.run(10)[0], 10);
}

TEST(ImplementationChooser, DetectsWithinAWindowThatTheFastestBecameSlow) {
  Worker worker;
  worker.run(60);
  worker.takes[1] = 20 * ms;
  worker.run(model::QuantileHistory::window);
  EXPECT_EQ(worker.run(50)[0], 50);
}

// Detected at the next trial run; more trial runs follow at once since they cost nothing.
TEST(ImplementationChooser, DetectsThatAnotherBecameFast) {
  Worker worker;
  worker.run(60);
  worker.takes[0] = 1 * ms;
  worker.run(96 + static_cast<int>(model::QuantileHistory::window));
  EXPECT_EQ(worker.run(50)[0], 50);
}

// Many tasks start before the first has finished: each implementation gets as many as its estimate needs, then the
// rest is distributed evenly.
TEST(ImplementationChooser, StartsOnlyAsManyTrialRunsAsAnEstimateNeeds) {
  Worker worker;
  const auto begin = [&] { return worker.chooser.choose(worker.codelet, cpu, worker.size); };
  const auto end = [&](unsigned which) {
    worker.model.record(worker.codelet, cpu, worker.size, Duration(ms), which);
    worker.chooser.over(worker.codelet, cpu, worker.size, which, Duration(ms), true);
  };
  for (unsigned i = 0; i < 10; ++i) EXPECT_EQ(begin(), i % 2);
  for (int i = 0; i < 5; ++i) end(0);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(begin(), 0u);  // known, while enough of the other are in flight
  worker.chooser.returned(worker.codelet, cpu, worker.size, 1);
  EXPECT_EQ(begin(), 1u);
}

// The formula belongs to the codelet and cannot state which of its bodies is faster.
TEST(ImplementationChooser, TriesEachAlthoughAFormulaGivesADuration) {
  Worker worker;
  worker.codelet = with_bodies({"blas", "small"}, WorkUnit::nanoseconds);
  worker.size = data_of({1000}, 1e6);
  EXPECT_TRUE(worker.chooser.estimate(worker.codelet, cpu, worker.size).known());
  EXPECT_EQ(worker.chooser.estimate(worker.codelet, cpu, worker.size).duration.count(), 1 * ms);
  EXPECT_EQ(worker.run(10), (std::array<int, 4>{5, 5, 0, 0}));
  EXPECT_EQ(worker.run(10)[1], 10);
}

TEST(ImplementationChooser, EstimatesTheDurationOfTheFastest) {
  Worker worker;
  EXPECT_FALSE(worker.chooser.estimate(worker.codelet, cpu, worker.size).known());
  worker.run(5);
  EXPECT_EQ(worker.chooser.estimate(worker.codelet, cpu, worker.size).duration.count(), 5 * ms);
  worker.run(5);
  EXPECT_EQ(worker.chooser.estimate(worker.codelet, cpu, worker.size).duration.count(), 2 * ms);
}

// By name: the next program may declare them in another order, or one more.
TEST(ImplementationChooser, KnowsFromEarlierRunsWhichIsFastest) {
  Worker first, second;
  first.run(20);
  const model::KeptDurations kept = first.model.learned();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].implementation, "blas");
  second.model.start_with(kept);
  second.codelet = with_bodies({"small", "blas", "new"});
  second.takes = {2 * ms, 5 * ms, 7 * ms};
  EXPECT_EQ(second.run(5)[2], 5);
  EXPECT_EQ(second.run(20)[0], 20);
}

TEST(ImplementationChooser, DistinguishesBodiesFromCodeletsWithTheSameName) {
  DurationModel model;
  CodeletInfo a = named("a"), b = named("b");
  a.kinds = b.kinds = 0;
  a.implement(WorkerKind::cpu, {nullptr, nullptr, false, "b"});
  b.implement(WorkerKind::cpu, {nullptr, nullptr, false, "a"});
  for (int i = 0; i < 10; ++i) model.record(a, cpu, data_of({8}), Duration(ms));
  EXPECT_FALSE(model.estimate(b, cpu, data_of({8})).known());
}

// Sparse matrices: every task has different sizes.
TEST(ImplementationChooser, ChoosesAmongThousandsOfFootprints) {
  Worker worker;
  std::array<int, 4> count{};
  for (Bytes i = 0; i < 20'000; ++i) {
    const Bytes bytes = 10'000 + i * 7919 % 1'000'000;
    worker.size = data_of({bytes});
    const auto time = static_cast<std::int64_t>(bytes);
    worker.takes = {50'000 + 100 * time, 20 * ms + 50 * time};  // equal at 399,000 bytes
    const unsigned chosen = worker.run();
    if (i >= 10'000 && (bytes < 200'000 || bytes > 800'000)) ++count[chosen == (bytes < 200'000 ? 0u : 1u)];
  }
  EXPECT_GT(count[1], 20 * count[0]);
}

}  // namespace fairlead
