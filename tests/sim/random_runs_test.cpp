// Thousands of random programs on random machines, with memory from the largest footprint upwards. No stale
// or lost version, never two writers, capacity never exceeded, always progress, nothing pinned at the end.
#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/policies.hpp"
#include "sim/random_run.hpp"

namespace fairlead::tests {

class RandomRuns : public testing::TestWithParam<std::string> {
 protected:
  void run(RunOptions options, std::uint64_t first_seed, std::uint64_t seeds) {
    options.policy = GetParam();
    RunResult total;
    for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
      RunResult result;
      const auto failure = random_run(seed, options, result);
      ASSERT_FALSE(failure.has_value()) << "seed " << seed << ": " << *failure;
      total.evictions += result.evictions;
      total.tasks_cancelled += result.tasks_cancelled;
    }
    EXPECT_GT(total.evictions, 0u);
  }
};

TEST_P(RandomRuns, GiveTheValuesOfASequentialRunWhenMemoryIsTight) { run({.tight = true}, 1, 120); }
TEST_P(RandomRuns, GiveTheValuesOfASequentialRunWhenMemoryIsAmple) { run({.tight = false}, 1000, 60); }
TEST_P(RandomRuns, SurviveCopiesThatFail) { run({.copies_fail = true}, 2000, 60); }
TEST_P(RandomRuns, SurviveTasksThatFail) { run({.tasks_fail = true}, 3000, 60); }
TEST_P(RandomRuns, StopWithAnErrorWhenResultsCannotGoHome) { run({.write_backs_fail = true}, 4000, 60); }
TEST_P(RandomRuns, SurviveEverythingAtOnce) {
  run({.copies_fail = true, .write_backs_fail = true, .tasks_fail = true}, 5000, 40);
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const PolicyEntry& entry : schedule::policies()) names.emplace_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Policies, RandomRuns, testing::ValuesIn(policy_names()), [](const auto& instance) {
  std::string name = instance.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

// The same seed is the same run, command for command.
TEST(Simulation, IsReproducedFromItsSeed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RunResult first, second, other;
    ASSERT_FALSE(random_run(seed, {}, first).has_value());
    ASSERT_FALSE(random_run(seed, {}, second).has_value());
    ASSERT_FALSE(random_run(seed + 1, {}, other).has_value());
    EXPECT_EQ(first.digest, second.digest);
    EXPECT_EQ(first.end_time, second.end_time);
    EXPECT_NE(first.digest, other.digest);
  }
}

}  // namespace fairlead::tests
