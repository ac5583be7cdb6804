// Estimates of a history after durations with the patterns that mislead such models: cold first runs, outliers at every
// position, two modes, noise, a lasting change.
#include <gtest/gtest.h>

#include <limits>

#include "base/random.hpp"
#include "model/codelets.hpp"

namespace fairlead {

using model::QuantileHistory;
using tests::ms;
using tests::us;

namespace {

class Durations {
 public:
  Durations& then(int times, std::int64_t duration_ns) {
    for (int i = 0; i < times; ++i) history_.add(duration_ns);
    return *this;
  }
  std::int64_t expected() const { return history_.expected_ns(); }
  QuantileHistory& history() { return history_; }

 private:
  QuantileHistory history_;
};

}  // namespace

TEST(QuantileHistory, IsZeroWithoutRuns) { EXPECT_EQ(Durations().expected(), 0); }

TEST(QuantileHistory, UsesTheFirstRunUntilThereIsASecond) {
  EXPECT_EQ(Durations().then(1, 900 * us).expected(), 900 * us);
  EXPECT_EQ(Durations().then(1, 900 * us).then(1, 10 * us).expected(), 10 * us);
}

// The first half of all runs is slow: the processor speeds up, code and caches are loaded.
TEST(QuantileHistory, IsRobustAgainstWarmUp) {
  for (const int cold : {1, 2, 3, 4, 6}) {
    Durations durations;
    durations.then(cold, 50 * ms).then(cold + 1, 1 * ms);
    EXPECT_EQ(durations.expected(), 1 * ms) << cold << " cold runs, " << cold + 1 << " warm ones";
    EXPECT_EQ(durations.then(100, 1 * ms).expected(), 1 * ms);
  }
}

TEST(QuantileHistory, IsRobustAgainstAnOutlierAtAnyPosition) {
  for (int place = 0; place < 50; ++place) {
    Durations durations;
    durations.then(place, 100 * us).then(1, 100 * ms).then(50 - place, 100 * us);
    EXPECT_EQ(durations.expected(), 100 * us) << "outlier number " << place;
  }
  EXPECT_EQ(Durations().then(50, 100 * us).then(1, 100 * ms).expected(), 100 * us);
}

// Every fourth task waits for something 1,000 times as long as it runs.
TEST(QuantileHistory, IsRobustAgainstPeriodicOutliers) {
  for (const int period : {4, 5, 8, 16, 33}) {
    Durations durations;
    for (int i = 0; i < 200; ++i) {
      durations.then(1, i % period == 0 ? 100 * ms : 100 * us);
      if (i <= 8) continue;
      ASSERT_EQ(durations.expected(), 100 * us) << "one in " << period << ", after " << i;
    }
  }
}

// More outliers than can be cut off: they may shift the estimate, but not dominate it.
TEST(QuantileHistory, LimitsTheEffectOfManyOutliers) {
  Durations durations;
  for (int i = 0; i < 200; ++i) durations.then(1, i % 3 == 0 ? 100 * ms : 100 * us);
  EXPECT_GE(durations.expected(), 100 * us);
  EXPECT_LE(durations.expected(), 300 * us);
}

// Outliers below: tasks without work.
TEST(QuantileHistory, IsRobustAgainstTasksWithoutWork) {
  Durations durations;
  for (int i = 0; i < 200; ++i) durations.then(1, i % 5 == 0 ? 10 : 100 * us);
  EXPECT_EQ(durations.expected(), 100 * us);
}

// Half of the tasks find their data in the cache: 1 ms and 3 ms, by chance. Their mean is 2 ms.
TEST(QuantileHistory, EstimatesTheMeanOfTwoModes) {
  Random random(1);
  Durations durations;
  std::int64_t sum = 0;
  for (int i = 0; i < 2000; ++i) {
    durations.then(1, random.once_in(2) ? 1 * ms : 3 * ms);
    sum += durations.expected();
  }
  EXPECT_NEAR(static_cast<double>(sum) / 2000, 2e6, 0.2e6);
}

// A tenth of noise to both sides moves the expectation by less than a twentieth.
TEST(QuantileHistory, AveragesNoise) {
  Random random(2);
  Durations durations;
  durations.then(20, 100 * us);
  for (int i = 0; i < 1000; ++i) {
    durations.then(1, random.between(90 * us, 110 * us));
    EXPECT_NEAR(static_cast<double>(durations.expected()), 100e3, 5e3);
  }
}

// The machine becomes slower for a long time (other load), then faster again.
TEST(QuantileHistory, FollowsALastingChangeWithinAWindow) {
  Durations durations;
  durations.then(1000, 100 * us).then(32, 250 * us);
  EXPECT_EQ(durations.expected(), 250 * us);
  EXPECT_EQ(durations.then(32, 80 * us).expected(), 80 * us);
}

TEST(QuantileHistory, StartsWithEarlierRunsAndIgnoresItsOwnFirstRun) {
  Durations before;
  before.then(100, 100 * us);
  Durations durations;
  durations.history().start_with(before.history().quantiles());
  EXPECT_EQ(durations.expected(), 100 * us);
  EXPECT_EQ(durations.then(1, 900 * ms).expected(), 100 * us);
  EXPECT_EQ(durations.history().samples(), 16u);
}

// The kept durations are of another processor: they are dropped after a window of runs.
TEST(QuantileHistory, DropsEarlierRunsIfTheyAreWrong) {
  Durations durations;
  durations.history().start_with({1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(durations.then(32, 5 * ms).expected(), 5 * ms);
}

TEST(QuantileHistory, AcceptsExtremeDurations) {
  EXPECT_EQ(Durations().then(40, 0).expected(), 1);
  EXPECT_EQ(Durations().then(40, -5).expected(), 1);
  EXPECT_EQ(Durations().then(40, std::numeric_limits<std::int64_t>::max()).expected(), std::int64_t{1} << 52);
}

TEST(QuantileHistory, MergesTwoHalfAndHalf) {
  const model::Quantiles fast{1, 1, 1, 1, 1, 1, 1, 1}, slow{9, 9, 9, 9, 9, 9, 9, 9};
  EXPECT_EQ(model::merged(fast, slow), (model::Quantiles{1, 1, 1, 1, 9, 9, 9, 9}));
}

}  // namespace fairlead
