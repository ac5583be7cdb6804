// --charge-decisions: a worker waits for the time of its scheduling decisions, by a clock that the test advances.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "simulate/small.hpp"
#include "simulate/timed_policy.hpp"

namespace fairlead::simulate {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr Duration ms(std::int64_t t) { return Duration(t * 1'000'000); }

/// First come, first served; the test sets the time of each call.
class Slow final : public Policy {
 public:
  struct Costs {
    Duration ready{};
    std::vector<Duration> pick;  // by worker, of a pick that returns a task
  };
  Slow(Time& clock, Costs costs) : clock_(clock), costs_(std::move(costs)) {}

  void ready(Task& task, WorkerId) override {
    clock_ += costs_.ready;
    tasks_.push_back(&task);
  }
  Task* pick(WorkerId worker, bool) override {
    if (tasks_.empty()) return nullptr;
    if (index(worker) < costs_.pick.size()) clock_ += costs_.pick[index(worker)];
    Task* task = tasks_.front();
    tasks_.pop_front();
    return task;
  }

 private:
  Time& clock_;
  Costs costs_;
  std::deque<Task*> tasks_;
};

/// Tasks of 1 ms on cores, one at a time.
class ChargedDecisions : public testing::Test {
 protected:
  SimulationResult simulate_on(std::size_t cores, Slow::Costs costs, bool charge = true) {
    const SimulatedMachine machine(machine::read_machine(machine_text(""), "m.toml"), {.cores = cores},
                                   it_.program, Precision::single);
    Time clock{};
    SimulationOptions options;
    options.pipeline_depth = depth_;
    options.keep_order = true;
    options.charge_decisions = charge;
    options.decision_clock = [&] { return clock; };
    return simulate(it_.program, machine, std::make_unique<Slow>(clock, std::move(costs)), options);
  }
  static std::vector<Duration> durations(const SimulationResult& result, unsigned worker) {
    std::vector<Duration> all;
    for (const TaskRun& run : result.order)
      if (index(run.worker) == worker) all.push_back(run.end - run.start);
    return all;
  }
  void tasks(int count) {
    for (int i = 0; i < count; ++i) it_.task(1e6F, {{it_.datum(), AccessMode::write}});
  }
  /// Each after the one before.
  void chain(int count) {
    const DatumIndex datum = it_.datum();
    for (int i = 0; i < count; ++i) it_.task(1e6F, {{datum, AccessMode::read_write}});
  }

  Small it_;
  std::size_t depth_ = 1;
};

TEST_F(ChargedDecisions, TakeExactlyTheirTimeBeforeTheTaskThatWasPicked) {
  tasks(4);
  const SimulationResult result = simulate_on(1, {.pick = {ms(3)}});
  EXPECT_DOUBLE_EQ(result.seconds, 4 * 0.004);
  EXPECT_DOUBLE_EQ(result.decision_seconds, 4 * 0.003);
  EXPECT_THAT(durations(result, 0), ElementsAre(ms(4), ms(4), ms(4), ms(4)));
}

TEST_F(ChargedDecisions, AreChargedToTheWorkerThatPicks) {
  tasks(10);
  const SimulationResult result = simulate_on(2, {.pick = {ms(0), ms(3)}});
  EXPECT_THAT(durations(result, 0), Each(ms(1)));
  EXPECT_THAT(durations(result, 1), Each(ms(4)));
  EXPECT_DOUBLE_EQ(result.seconds, 0.008);  // 8 tasks here, 2 there
}

// Also if its tasks are picked while others start theirs.
TEST_F(ChargedDecisions, AreNotChargedToOthersIfTasksArePickedAhead) {
  tasks(20);
  depth_ = 4;
  const SimulationResult result = simulate_on(2, {.pick = {ms(0), ms(3)}});
  EXPECT_THAT(durations(result, 0), Each(ms(1)));
  Duration waited{};
  for (const Duration one : durations(result, 1)) waited += one - ms(1);
  EXPECT_DOUBLE_EQ(static_cast<double>(waited.count()) * 1e-9, result.decision_seconds);
}

// The worker has made the next task ready.
TEST_F(ChargedDecisions, ForReleasedTasksAreChargedToTheReleasingWorker) {
  chain(5);
  const SimulationResult result = simulate_on(1, {.ready = ms(2), .pick = {}});
  EXPECT_THAT(durations(result, 0), Each(ms(3)));
}

// No worker has run a task: the first to start waits for all decisions.
TEST_F(ChargedDecisions, WithoutAWorkerAreChargedToTheNext) {
  tasks(5);
  const SimulationResult result = simulate_on(1, {.ready = ms(2), .pick = {}});
  EXPECT_DOUBLE_EQ(result.seconds, 5 * 0.003);
  EXPECT_DOUBLE_EQ(result.decision_seconds, 5 * 0.002);
}

TEST_F(ChargedDecisions, CostNothingIfTheyAreNotCharged) {
  tasks(10);
  const SimulationResult slow = simulate_on(2, {.ready = ms(1), .pick = {ms(7), ms(3)}}, false),
                         quick = simulate_on(2, {}, false);
  EXPECT_DOUBLE_EQ(slow.seconds, 0.005);
  EXPECT_DOUBLE_EQ(slow.decision_seconds, 0.010 + 5 * 0.007 + 5 * 0.003);
  EXPECT_EQ(slow.digest, quick.digest);
}

// By this machine's clock: the chain is longer, by at most the measured time.
TEST_F(ChargedDecisions, LengthenAChainByTheMeasuredTime) {
  chain(50);
  const SimulationResult without = run(it_.program, "", {}, "darts"),
                         with = run(it_.program, "", {}, "darts", {.charge_decisions = true});
  EXPECT_GT(with.seconds, without.seconds);
  EXPECT_LE(with.seconds, without.seconds + with.decision_seconds + 1e-12);
}

}  // namespace
}  // namespace fairlead::simulate
