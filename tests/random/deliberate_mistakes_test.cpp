// The random runs can fail: each of these deliberate mistakes is noticed within their seeds. (That the same
// runs pass without one, random_runs_test.cpp says.)
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "random/mistakes.hpp"
#include "random/run.hpp"

namespace fairlead::tests {

using namespace random_runs;

class DeliberateMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(DeliberateMistakes, AreCaughtWithinFourThousandRuns) {
  std::string what;
  std::uint64_t seed = 0;
  while (what.empty() && ++seed <= 4000) {  // the rarest shows in one run of some thousand
    RunOptions options = options_of(seed);
    options.mistake = GetParam();
    RunResult result;
    if (const auto failure = random_run(seed, options, result)) what = *failure;
  }
  ASSERT_FALSE(what.empty());
  RecordProperty("seed", static_cast<int>(seed));
  RecordProperty("what", what);
  std::printf("  %s: caught by seed %d: %s\n", std::string(name_of(GetParam())).c_str(),
              static_cast<int>(seed), what.c_str());
}

INSTANTIATE_TEST_SUITE_P(All, DeliberateMistakes, testing::ValuesIn(mistakes()),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

TEST(ListOfMistakes, IsAsLongAsEver) { EXPECT_GE(mistakes().size(), 32u); }

}  // namespace fairlead::tests
