// A what-if simulation in a thread of its own during a real run; the end of the run does not wait for it.
#include "policy/what_if_simulation.hpp"
#include "front/runtime/runtime_access.hpp"

#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/runtime_core.hpp"
#include "policy/forwarding_policy.hpp"
#include "schedule/policies.hpp"
#include "schedule/what_if/replaceable_policy.hpp"

namespace fairlead {
namespace {

/// Simulates all submitted tasks once and keeps the result.
class SimulatingPolicy final : public ForwardingPolicy<SimulatingPolicy> {
 public:
  SimulatingPolicy(WhatIfSimulation::Evaluation evaluation, std::promise<std::uint64_t>& finding)
      : ForwardingPolicy(schedule::make_policy("ap")),
        evaluation_(std::move(evaluation)),
        finding_(finding) {}

  Notifications interests() const override { return Notifications::submitted | Notifications::progress; }
  void submitted(Task& task) override { unfinished_.add(task); }
  void finished(Task& task, WorkerId, Duration) override { unfinished_.remove(task); }
  void horizon_closed() override {
    if (evaluation_)
      view().what_if_simulation()->start(unfinished_.list(), std::exchange(evaluation_, nullptr));
  }
  void simulation_finished(std::uint64_t finding) override { finding_.set_value(finding); }

 private:
  WhatIfSimulation::Evaluation evaluation_;
  std::promise<std::uint64_t>& finding_;
  schedule::what_if::Unfinished unfinished_;
};

/// Waits for a what-if simulation, even after it has ended or if none was started.
class WaitingPolicy final : public ForwardingPolicy<WaitingPolicy> {
 public:
  explicit WaitingPolicy(
      bool begins, WhatIfSimulation::Evaluation evaluation = [](Simulator&) { return 1; })
      : ForwardingPolicy(schedule::make_policy("ap")), begins_(begins), evaluation_(std::move(evaluation)) {}

  Notifications interests() const override { return Notifications::submitted | Notifications::progress; }
  void submitted(Task& task) override { unfinished_.add(task); }
  void finished(Task& task, WorkerId, Duration) override { unfinished_.remove(task); }
  void horizon_closed() override {
    if (std::exchange(begins_, false)) view().what_if_simulation()->start(unfinished_.list(), evaluation_);
  }
  void simulation_finished(std::uint64_t) override {}
  Task* pick(WorkerId, bool) override { return nullptr; }
  bool awaits_simulation() const override { return true; }

 private:
  bool begins_;
  const WhatIfSimulation::Evaluation evaluation_;
  schedule::what_if::Unfinished unfinished_;
};

struct WhatIfSimulationDuringARun : testing::Test {
  /// A chain of tasks on each of four numbers. If `waits`, the first task waits for the result of the
  /// simulation.
  void run(WhatIfSimulation::Evaluation evaluation, bool waits) {
    Config config;
    config.set("workers", 2);
    config.set("memory", "8MiB");
    config.set("bind-threads", false);
    Runtime runtime(config);
    front::core_of(runtime).replace_policy(std::make_unique<SimulatingPolicy>(std::move(evaluation), finding),
                                           "simulating");
    std::vector<int> values(4);
    auto found = finding.get_future();
    const auto add = codelet("add").cpu([](InOut<int> value) { ++value.get(); });
    const auto wait =
        codelet("wait").cpu([&](InOut<int> value) { value.get() += static_cast<int>(found.get()); });
    Flow flow(runtime);
    for (int& value : values) {
      const auto handle = runtime.value("value", value);
      if (waits && &value == values.data()) flow.submit(wait(handle));
      for (int i = 0; i < 50; ++i) flow.submit(add(handle));
    }
    flow.wait();
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 50 + (waits && i == 0 ? 1000 : 0));
  }
  std::promise<std::uint64_t> finding;
};

constexpr Duration all = Duration::max() / 8;

}  // namespace

TEST_F(WhatIfSimulationDuringARun, ReportsItsResultWhileTasksRun) {
  std::atomic<int> completed = 0;
  run(
      [&completed](Simulator& simulator) -> std::uint64_t {
        const std::vector<std::string> policies{"blocks", "darts", "dmdas", "static"};
        for (const SimulationOutcome& outcome : simulator.simulate(policies, all, Duration::max()))
          completed += outcome.completed();
        return 1000;
      },
      true);
  EXPECT_GE(completed, 1);  // simulations that take much longer than the best are abandoned
}

// The evaluation loops until the end of the runtime cancels it.
TEST_F(WhatIfSimulationDuringARun, EndsWithTheRuntime) {
  std::atomic<bool> has_ended = false;
  run(
      [&has_ended](Simulator& simulator) -> std::uint64_t {
        while (simulator.simulate("eager", all, Duration::max()).completed()) continue;
        has_ended = true;
        return 1;
      },
      false);
  EXPECT_TRUE(has_ended);
}

TEST_F(WhatIfSimulationDuringARun, HasNoResultIfTheEvaluationFails) {
  run([](Simulator&) -> std::uint64_t { throw std::bad_alloc(); }, false);
  // The end of the runtime did not wait for a result.
}

// A simulation that wrote back two MiB would predict two seconds. As in a run, only data in user memory are
// written back.
TEST(WhatIfSimulationOfDataThatFit, DoesNotWriteResultsToDisk) {
  Config config;
  config.set("workers", 2);
  config.set("memory", "32MiB");
  config.set("disk-bandwidth", "1MB/s");
  Runtime runtime(config);
  std::promise<std::uint64_t> finding;
  auto found = finding.get_future();
  const auto evaluation = [](Simulator& simulator) {
    const SimulationOutcome outcome = simulator.simulate("eager", all, Duration::max());
    return static_cast<std::uint64_t>(outcome.completed() ? outcome.time.count() : 0);
  };
  front::core_of(runtime).replace_policy(std::make_unique<SimulatingPolicy>(evaluation, finding),
                                         "simulating");
  const auto set =
      codelet("set").cpu([](Out<Vector<double>> v) { std::fill(v.data(), v.data() + v.size(), 1.0); });
  std::vector<Handle<Vector<double>>> data;
  Flow flow(runtime);
  for (int i = 0; i < 4; ++i) {
    data.push_back(runtime.vector<double>("v", 1 << 16));
    flow.submit(set(data.back()));
  }
  flow.wait();
  const Duration predicted(static_cast<std::int64_t>(found.get()));
  EXPECT_GT(predicted, Duration{});
  EXPECT_LT(predicted, std::chrono::milliseconds(500));
}

TEST(PoliciesThatWaitForever, MayIdleOnlyDuringASimulation) {
  for (const bool begins : {false, true}) {
    SCOPED_TRACE(begins);
    Config config;
    config.set("workers", 2);
    config.set("bind-threads", false);
    Runtime runtime(config);
    front::core_of(runtime).replace_policy(std::make_unique<WaitingPolicy>(begins), "waiting");
    const auto add = codelet("add").cpu([](InOut<int> value) { ++value.get(); });
    int value = 0;
    {
      Flow flow(runtime);
      const auto handle = runtime.value("value", value);
      for (int i = 0; i < 50; ++i) flow.submit(add(handle));
      flow.wait();
    }
    EXPECT_EQ(value, 50);
  }
}

// The tasks wait for a simulation that would never end, so only the cancellation can end it.
TEST(ACancelledFlow, DoesNotWaitForTheSimulation) {
  Config config;
  config.set("workers", 2);
  config.set("bind-threads", false);
  Runtime runtime(config);
  std::promise<void> started;
  const std::shared_future<void> start = started.get_future().share();
  std::atomic<bool> is_cancelled = false;
  const auto endless = [&](Simulator& simulator) -> std::uint64_t {
    started.set_value();
    while (simulator.simulate("eager", all, Duration::max()).completed() || !is_cancelled) continue;
    return 0;
  };
  front::core_of(runtime).replace_policy(std::make_unique<WaitingPolicy>(true, endless), "waiting");
  // Tasks may run before the simulation: the others wait for this one.
  const auto first = codelet("first").cpu([start](InOut<int>) { start.wait(); });
  const auto add = codelet("add").cpu([](InOut<int> value) { ++value.get(); });
  int value = 0;
  {
    Flow flow(runtime);
    const auto handle = runtime.value("value", value);
    flow.submit(first(handle));
    for (int i = 0; i < 50; ++i) flow.submit(add(handle));
    std::jthread canceller([&] {
      start.wait();
      flow.cancel();
      is_cancelled = true;
    });
    EXPECT_THROW(flow.wait(), Error);
  }
  EXPECT_EQ(value, 0);
}

}  // namespace fairlead
