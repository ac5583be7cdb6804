// Logs of random simulated runs, fed to a fresh engine, give the same commands.
#include "engine/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "replay/logged_run.hpp"

namespace fairlead::tests {

class Replay : public testing::TestWithParam<std::string> {
 protected:
  void replay_all(RunOptions options, std::uint64_t first_seed, std::uint64_t seeds) {
    options.policy = GetParam();
    for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
      const LoggedRun run = logged_run(seed, options);
      ASSERT_GT(run.commands, 0u);
      const engine::ReplayResult again = run.replay();
      ASSERT_EQ(again.digest, run.digest) << "seed " << seed;
      ASSERT_EQ(again.commands, run.commands) << "seed " << seed;
      ASSERT_EQ(again.difference, "") << "seed " << seed;
      ASSERT_GT(again.compared, 0u);
      ASSERT_EQ(again.fatal != nullptr, run.broke_down) << "seed " << seed;
      ASSERT_GT(again.events, 0u);  // a run that was stopped may be short
    }
  }
};

TEST_P(Replay, GivesTheSameCommandsWhenMemoryIsTight) { replay_all({.tight = true}, 1, 50); }
TEST_P(Replay, GivesTheSameCommandsWhenMemoryIsAmple) { replay_all({.tight = false}, 1000, 50); }
TEST_P(Replay, GivesTheSameCommandsWhenCopiesFail) { replay_all({.copies_fail = true}, 2000, 50); }
TEST_P(Replay, GivesTheSameCommandsWhenTasksFail) { replay_all({.tasks_fail = true}, 3000, 50); }
TEST_P(Replay, GivesTheSameCommandsWhenResultsCannotGoHome) {
  replay_all({.write_backs_fail = true}, 4000, 50);
}
TEST_P(Replay, GivesTheSameCommandsWhenEverythingFailsAtTimes) {
  replay_all({.copies_fail = true, .write_backs_fail = true, .tasks_fail = true}, 5000, 50);
}

TEST_P(Replay, GivesTheSameCommandsWhenTheApplicationHoldsData) {
  replay_all({.copies_fail = true, .tasks_fail = true, .cancels = true, .holds = true}, 6000, 50);
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const PolicyEntry& entry : schedule::policies()) names.emplace_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Policies, Replay, testing::ValuesIn(policy_names()), [](const auto& instance) {
  std::string name = instance.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace fairlead::tests
