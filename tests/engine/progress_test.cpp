// Every run ends, or reports why it cannot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fairlead/error.hpp>

#include "front/flow/flow_source.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {
/// Picks no task unless it is overruled.
class Idle : public Policy {
 public:
  void ready(Task& task, WorkerId) override { held_.push_back(&task); }
  Task* pick(WorkerId, bool) override { return nullptr; }
  Task* take_any(WorkerId) override {
    if (held_.empty()) return nullptr;
    Task* task = held_.front();
    held_.pop_front();
    return task;
  }

 private:
  std::deque<Task*> held_;
};

/// Reports that it waits for a what-if simulation, but has started none.
class WaitsForEver : public Idle {
 public:
  bool awaits_simulation() const override { return true; }
};
class WaitsAndKeepsAll final : public WaitsForEver {
 public:
  Task* take_any(WorkerId) override { return nullptr; }
};

/// Never ends by itself.
class Endless final : public WhatIfSimulation {
  void capture(std::span<Task* const>, Evaluation) override {}
};

/// Runs 20 tasks that write one datum. Returns the number of finished tasks.
std::uint64_t done_under(std::unique_ptr<Policy> policy) {
  backend::SimWorld sim({});
  engine::CoreOptions options;
  options.topology = out_of_core_topology(2, 4_MiB, 1e9, Duration{});
  options.policy = std::move(policy);
  options.engine.policy_name = "odd";
  options.engine.what_if_simulation = [](const memory::Memory&, const View&, engine::Options::TellOver) {
    return std::make_unique<Endless>();
  };
  engine::RuntimeCore core(std::move(options), sim);
  engine::RegisteredDatum datum;
  core.register_datum(datum, {.bytes = 1_MiB, .home = core.topology().store()});
  CodeletInfo codelet;
  front::FlowSource flow(core);
  const front::Submission::Use use{&datum, AccessMode::write};
  front::Submission submission;
  submission.codelet = &codelet;
  submission.uses = {&use, 1};
  for (int i = 0; i < 20; ++i) flow.submit(submission);
  flow.wait();
  return core.engine().tasks_done();
}
}  // namespace

TEST(Progress, APolicyThatDeclinesEverythingIsOverruled) {
  EXPECT_EQ(done_under(std::make_unique<Idle>()), 20u);
}

TEST(Progress, APolicyThatWaitsWithoutASimulationIsOverruled) {
  EXPECT_EQ(done_under(std::make_unique<WaitsForEver>()), 20u);
  try {
    done_under(std::make_unique<WaitsAndKeepsAll>());
    FAIL() << "no worker can run the tasks";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("the policy odd picks none of"));
  }
}

TEST(Progress, ASimulationRunsUntilItsEndIsReported) {
  Endless simulation;
  EXPECT_FALSE(simulation.is_running());
  simulation.start({}, nullptr);
  EXPECT_TRUE(simulation.is_running());
  EXPECT_THROW(simulation.start({}, nullptr), Error);
  EXPECT_TRUE(simulation.is_running());
  simulation.note_finished();
  EXPECT_FALSE(simulation.is_running());
}

TEST(Progress, ATaskThatCanNeverFitIsRefusedAtSubmission) {
  backend::SimWorld sim({});
  engine::RuntimeCore core({.topology = out_of_core_topology(1, 4_MiB, 1e9, Duration{}),
                            .policy = schedule::make_policy("eager"),
                            .engine = {}},
                           sim);
  engine::RegisteredDatum datum;
  core.register_datum(datum, {.bytes = 5_MiB, .home = core.topology().store()});
  CodeletInfo codelet;
  codelet.name = "large";
  front::FlowSource flow(core);
  const front::Submission::Use use{&datum, AccessMode::write};
  front::Submission submission;
  submission.codelet = &codelet;
  submission.uses = {&use, 1};
  submission.file = "solver.cpp";
  submission.line = 41;
  try {
    flow.submit(submission);
    FAIL() << "it was accepted";
  } catch (const FootprintError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("large(datum 0) needs 5 MiB"));
    EXPECT_THAT(error.what(), testing::HasSubstr("solver.cpp:41"));
  }
}

TEST(Progress, AnEndlessSimulationEndsWithAnError) {
  World world = one_device(4_MiB).with_data({{"A", 1_MiB}});
  const auto never = [](const World&) { return false; };
  world.submit(reads("A"));
  EXPECT_THROW(world.run_until(never), Error);
}

}  // namespace fairlead::tests
