// The replay of the logs of random simulated runs in a new engine gives the same commands.
#include "engine/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/log/logged_run.hpp"
#include "whole/every_policy.hpp"

namespace fairlead::tests {

class Replay : public testing::TestWithParam<std::string> {
 protected:
  void replay_all(RunOptions options, std::uint64_t first_seed, std::uint64_t seeds) {
    options.policy = GetParam();
    for (const std::uint64_t seed : seeds_for(GetParam(), first_seed, first_seed + seeds - 1)) {
      const LoggedRun run = logged_run(seed, options);
      ASSERT_GT(run.commands, 0u);
      const engine::ReplayResult again = run.replay();
      ASSERT_EQ(again.digest, run.digest) << "seed " << seed;
      ASSERT_EQ(again.commands, run.commands) << "seed " << seed;
      ASSERT_EQ(again.difference, "") << "seed " << seed;
      ASSERT_GT(again.compared, 0u);
      // The log has no stops by the program, as after results that cannot be written back.
      ASSERT_TRUE(again.fatal == nullptr || run.has_failed) << "seed " << seed;
      ASSERT_GT(again.events, 0u);  // a run that was stopped may be short
    }
  }
};

TEST_P(Replay, GivesTheSameCommandsWhenMemoryIsTight) { replay_all({.tight = true}, 1, 50); }
TEST_P(Replay, GivesTheSameCommandsWhenMemoryIsAmple) { replay_all({.tight = false}, 1000, 50); }
TEST_P(Replay, GivesTheSameCommandsWhenCopiesFail) { replay_all({.copies_fail = true}, 2000, 50); }
TEST_P(Replay, GivesTheSameCommandsWhenTasksFail) { replay_all({.tasks_fail = true}, 3000, 50); }
TEST_P(Replay, GivesTheSameCommandsWhenWriteBacksFail) { replay_all({.write_backs_fail = true}, 4000, 50); }
TEST_P(Replay, GivesTheSameCommandsWhenAllKindsOfFailuresOccur) {
  replay_all({.copies_fail = true, .write_backs_fail = true, .tasks_fail = true}, 5000, 50);
}

TEST_P(Replay, GivesTheSameCommandsWhenTheApplicationHoldsData) {
  replay_all({.copies_fail = true, .tasks_fail = true, .cancels = true, .holds = true}, 6000, 50);
}

TEST_P(Replay, GivesTheSameCommandsWhenDevicesAreLost) {
  replay_all({.holds = true, .devices_are_lost = true}, 7000, 50);
}

INSTANTIATE_TEST_SUITE_P(Policies, Replay, testing::ValuesIn(some_policies(0)), name_of_test);

}  // namespace fairlead::tests
