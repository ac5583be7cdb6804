// `fairlead simulate --seed N --replay` makes the very run that the tests make of that seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "command/answer.hpp"
#include "simulate/random/run.hpp"

namespace fairlead {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Replay, OfASeedIsTheRunOfTheTests) {
  for (const std::uint64_t seed : {1u, 2u, 17u, 1999u}) {
    const random_runs::RunPlan plan(seed, random_runs::options_of(seed));
    random_runs::RunResult result;
    ASSERT_FALSE(run(plan, result).has_value());
    const Answer answer = fairlead_command(fmt::format("simulate --seed {} --replay", seed));
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr(plan.text()));
    EXPECT_THAT(answer.text, HasSubstr(fmt::format("{:016x}", result.digest)));
    EXPECT_THAT(answer.text, HasSubstr("all invariants hold"));
  }
}
TEST(Replay, TakesAnotherPolicyForTheSameProgramOnTheSameMachine) {
  const Answer answer = fairlead_command("simulate --seed 17 --replay --scheduler eager");
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.text, HasSubstr("policy: eager"));
  EXPECT_THAT(answer.text, HasSubstr("program: 129 tasks in 8 flows, 20 data"));
}
TEST(Replay, RefusesWhatSaysNothing) {
  const auto refused = [](const char* words, const char* why) {
    const Answer answer = fairlead_command(words);
    EXPECT_EQ(answer.exit_code, 2) << words;
    EXPECT_THAT(answer.text, HasSubstr(why));
  };
  refused("simulate cholesky --replay", "--replay takes no workload");
  refused("simulate --replay --machine summit", "--machine has no effect with --replay");
  refused("simulate --replay --seeds 1-x", "which is not like 1-20000");
  refused("simulate --replay --seeds 9-2", "which ends before it begins");
  refused("simulate --replay --plant dirty_dropped", "unknown option --plant");
  refused("simulate cholesky --seeds 1-2", "--seeds is for --replay");
  refused("simulate", "missing argument WORKLOAD");
}

}  // namespace
}  // namespace fairlead
