// Logs of simulated workloads contain the durations of tasks, which are known in advance: the replay needs only the
// file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "engine/log/log_records.hpp"
#include "engine/replay.hpp"
#include "machine/machine_files.hpp"
#include "schedule/policies.hpp"
#include "simulate/run_outcome.hpp"
#include "simulate/workload.hpp"
#include "whole/every_policy.hpp"

namespace fairlead::tests {
namespace {

using namespace fairlead::simulate;

class SimulatedLog : public testing::Test {
 protected:
  ~SimulatedLog() override { std::filesystem::remove(path_); }

  /// Cholesky on cores and three devices: two kinds of processors.
  RunOutcome simulate(const std::string& policy, SimulationOptions options = {}) {
    const WorkloadSize size{.n = 12 * 512, .tile = 512, .precision = Precision::single};
    const Program program = make_workload("cholesky", size);
    const SimulatedMachine machine(machine::load_machine("hannibal"),
                                   {.cores = 2, .device_memory = Bytes{20} << 20}, program, size.precision);
    options.event_log = path_;
    return outcome_of(program, machine, policy, options);
  }
  engine::ReplayResult replay(const engine::LogFile& log) const {
    return engine::replay(log.head, schedule::make_policy(log.head.policy), log.words);
  }

  std::string path_ =
      (std::filesystem::temp_directory_path() / ("fairlead-simulated-" + std::to_string(getpid()) + ".log"))
          .string();
};

class OfEveryPolicy : public SimulatedLog, public testing::WithParamInterface<std::string> {};

TEST_P(OfEveryPolicy, GivesTheSameCommands) {
  const RunOutcome outcome = simulate(GetParam(), {.seed = 3, .noise_percent = 10});
  ASSERT_EQ(outcome.problem, "");
  EXPECT_EQ(replay(engine::EventLog::read(path_)).digest, outcome.result.digest);
}

INSTANTIATE_TEST_SUITE_P(Policies, OfEveryPolicy, testing::ValuesIn(every_policy()), name_of_test);

TEST_F(SimulatedLog, CanBeThatOfARunWithSchedulingCosts) {
  const RunOutcome outcome = simulate("darts", {.charge_decisions = true});
  EXPECT_EQ(replay(engine::EventLog::read(path_)).digest, outcome.result.digest);
}

// It may show the error.
TEST_F(SimulatedLog, IsWrittenForARunThatDoesNotFinish) {
  const RunOutcome outcome = simulate("dmda", {.most_events = 100});
  ASSERT_NE(outcome.problem, "");
  EXPECT_GT(replay(engine::EventLog::read(path_)).commands, 0u);
}

TEST_F(SimulatedLog, DeterminesDecisionsByItsDurations) {
  const RunOutcome outcome = simulate("heft-tm");
  engine::LogFile log = engine::EventLog::read(path_);
  auto records = records_of(log.words);
  bool any = false;
  for (LogRecord& record : records) {
    if (record.kind() != LogRecord::Kind::durations) continue;
    std::swap(record.words.at(1), record.words.at(2));  // exchanges the speeds of cores and devices
    any = true;
  }
  ASSERT_TRUE(any);
  log.words = words_of(records);
  EXPECT_THROW(replay(log), InputError);  // tasks run on other workers than in the log
}

TEST_F(SimulatedLog, IsRefusedIfDurationsAreMissingOrUnexpected) {
  simulate("heft-tm");
  const engine::LogFile good = engine::EventLog::read(path_);
  auto records = records_of(good.words);
  const auto first = std::ranges::find(records, LogRecord::Kind::durations, &LogRecord::kind);
  ASSERT_NE(first, records.end());
  const auto refused = [&](const char* why) {
    engine::LogFile bad = good;
    bad.words = words_of(records);
    try {
      replay(bad);
      ADD_FAILURE() << "replayed, though " << why;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(why));
    }
  };
  const LogRecord durations = *first;
  first->words = {durations.words[0] + (1 << 8), 1, 2, 3};
  refused("durations of 3 processors are unexpected");
  records.erase(first);
  refused("the durations of task");
}

}  // namespace
}  // namespace fairlead::tests
