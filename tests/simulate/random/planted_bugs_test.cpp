// The random runs can fail: each of these deliberate mistakes is noticed within their seeds. (That the same
// runs pass without one, random_runs_test.cpp says.)
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "simulate/random/run.hpp"

namespace fairlead::tests {

using namespace random_runs;

class PlantedBugs : public testing::TestWithParam<memory::PlantedBug> {};

TEST_P(PlantedBugs, AreCaughtWithinTwoThousandRuns) {
  std::string what;
  std::uint64_t seed = 0;
  while (what.empty() && ++seed <= 2000) {
    RunOptions options = options_of(seed);
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

}  // namespace fairlead::tests
