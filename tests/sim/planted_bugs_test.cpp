// The random runs can fail: each of these deliberate mistakes is noticed within their seeds.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "schedule/policies.hpp"
#include "sim/random_run.hpp"

namespace fairlead::tests {

/// The kinds of runs of random_runs_test.cpp, and all policies, in turn.
RunOptions options_for(std::uint64_t seed) {
  static const std::array kinds{
      RunOptions{},
      RunOptions{.tight = false},
      RunOptions{.copies_fail = true},
      RunOptions{.tasks_fail = true},
      RunOptions{.cancels = true},
      RunOptions{.write_backs_fail = true},
      RunOptions{.holds = true},
      RunOptions{.copies_fail = true, .write_backs_fail = true, .tasks_fail = true, .cancels = true},
  };
  RunOptions options = kinds[seed % kinds.size()];
  const auto policies = schedule::policies();
  options.policy = policies[seed / kinds.size() % policies.size()].name;
  return options;
}

class PlantedBugs : public testing::TestWithParam<memory::PlantedBug> {};

TEST_P(PlantedBugs, AreCaughtWithinSixThousandRuns) {
  std::string what;
  std::uint64_t seed = 0;
  while (what.empty() && ++seed <= 6000) {
    RunOptions options = options_for(seed);
    options.bug = GetParam();
    RunResult result;
    if (const auto failure = random_run(seed, options, result)) what = *failure;
  }
  ASSERT_FALSE(what.empty());
  RecordProperty("seed", static_cast<int>(seed));
  RecordProperty("what", what);
  std::printf("  %s: caught by seed %d: %s\n", std::string(memory::name_of(GetParam())).c_str(),
              static_cast<int>(seed), what.c_str());
}

std::vector<memory::PlantedBug> all_bugs() {
  std::vector<memory::PlantedBug> bugs;
  for (std::size_t i = 1; i < memory::planted_bug_count; ++i)
    bugs.push_back(static_cast<memory::PlantedBug>(i));
  return bugs;
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBugs, testing::ValuesIn(all_bugs()),
                         [](const auto& instance) { return std::string(memory::name_of(instance.param)); });

// What the tests above catch is the bug, not the runs: without one, the same runs pass.
TEST(Runs, PassWhereNoBugIsPlanted) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    RunResult result;
    const auto failure = random_run(seed, options_for(seed), result);
    ASSERT_FALSE(failure.has_value()) << "seed " << seed << ": " << *failure;
  }
}

}  // namespace fairlead::tests
