// The program fairlead-seeds makes the same runs as the tests for the same seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "command/program.hpp"
#include "random/run.hpp"

namespace fairlead {
namespace {

using testing::HasSubstr;
using testing::Not;

Answer seeds(const std::string& arguments) { return answer_of(FAIRLEAD_SEEDS, arguments); }

TEST(Seeds, OneIsTheRunOfTheTests) {
  for (const std::uint64_t seed : {1u, 2u, 17u, 1999u}) {
    const random_runs::RunPlan plan(seed, random_runs::options_of(seed));
    random_runs::RunResult result;
    ASSERT_FALSE(run(plan, result).has_value());
    const Answer answer = seeds(fmt::format("--seed {}", seed));
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr(plan.text()));
    EXPECT_THAT(answer.text, HasSubstr(fmt::format("{:016x}", result.digest)));
    EXPECT_THAT(answer.text, HasSubstr("all invariants hold"));
  }
}
TEST(Seeds, ManyAreCounted) {
  const Answer answer = seeds("--seeds 1-20");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("20 runs"));
  EXPECT_THAT(answer.text, HasSubstr("; 0 fail\n"));
}
TEST(Seeds, TakeAnotherPolicyForTheSameProgramOnTheSameMachine) {
  const Answer answer = seeds("--seed 17 --scheduler eager");
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.text, HasSubstr("policy: eager"));
  EXPECT_THAT(answer.text, HasSubstr("program: 129 tasks in 8 flows, 20 data"));
}
TEST(Seeds, RefuseInvalidArguments) {
  const auto refused = [](const char* words, const char* why) {
    const Answer answer = seeds(words);
    EXPECT_EQ(answer.exit_code, 2) << words;
    EXPECT_THAT(answer.text, HasSubstr(why));
  };
  refused("cholesky", "cholesky");
  refused("--memory 1GiB", "--memory");
  refused("--seed 1 --sheduler eager", "did you mean --scheduler?");
  refused("--scheduler gremlin", "gremlin");
  refused("--seeds 1-x", "which is not like 1-20000");
  refused("--seeds 9-2", "which ends before it begins");
}

#ifdef FAIRLEAD_DELIBERATE_MISTAKES
TEST(Seeds, ReportFailures) {
  const Answer one = seeds("--seed 1 --plant dirty_dropped");
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_THAT(one.text, HasSubstr("fairlead-seeds: seed 1: "));
  EXPECT_THAT(one.text, Not(HasSubstr("all invariants hold")));
  const Answer many = seeds("--seeds 1-50 --plant claimant_ignored");
  EXPECT_EQ(many.exit_code, 0) << many.text;  // that mistake shows rarely
  const Answer failing = seeds("--seeds 1-50 --plant dirty_dropped");
  EXPECT_EQ(failing.exit_code, 1);
  EXPECT_THAT(failing.text, HasSubstr("50 runs"));
  const Answer unknown = seeds("--plant gremlin");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.text, HasSubstr("no mistake is called \"gremlin\""));
}
#else
TEST(Seeds, WithMistakesNeedABuildWithDeliberateMistakes) {
  const Answer answer = seeds("--seed 1 --plant dirty_dropped");
  EXPECT_EQ(answer.exit_code, 2);
  EXPECT_THAT(answer.text, HasSubstr("unknown option --plant"));
}
#endif

}  // namespace
}  // namespace fairlead
