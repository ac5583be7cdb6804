// A what-if simulation next to a real run: by a thread of its own, while tasks are running; and that nothing waits for it in the end.
#include "policy/what_if_simulation.hpp"
#include "front/runtime/runtime_access.hpp"

#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "engine/runtime_core.hpp"
#include "policy/forwarding_policy.hpp"
#include "schedule/policies.hpp"
#include "schedule/what_if/replaceable_policy.hpp"

namespace fairlead {
namespace {

/// Has all that is submitted played once, and keeps what was found.
class Asking final : public ForwardingPolicy<Asking> {
 public:
  Asking(WhatIfSimulation::Evaluation judge, std::promise<std::uint64_t>& finding)
      : ForwardingPolicy(schedule::make_policy("ap")), judge_(std::move(judge)), finding_(finding) {}

  Notifications interests() const override { return Notifications::submitted | Notifications::progress; }
  void submitted(Task& task) override { unfinished_.add(task); }
  void finished(Task& task, WorkerId, Duration) override { unfinished_.remove(task); }
  void horizon_closed() override {
    if (judge_) view().what_if_simulation()->start(unfinished_.list(), std::exchange(judge_, nullptr));
  }
  void simulation_finished(std::uint64_t finding) override { finding_.set_value(finding); }

 private:
  WhatIfSimulation::Evaluation judge_;
  std::promise<std::uint64_t>& finding_;
  schedule::what_if::Unfinished unfinished_;
};

/// Waits for a what-if simulation: also after it is over, and if none was begun at all.
class WaitingStill final : public ForwardingPolicy<WaitingStill> {
 public:
  explicit WaitingStill(bool begins) : ForwardingPolicy(schedule::make_policy("ap")), begins_(begins) {}

  Notifications interests() const override { return Notifications::submitted | Notifications::progress; }
  void submitted(Task& task) override { unfinished_.add(task); }
  void finished(Task& task, WorkerId, Duration) override { unfinished_.remove(task); }
  void horizon_closed() override {
    if (std::exchange(begins_, false))
      view().what_if_simulation()->start(unfinished_.list(), [](Simulator&) { return 1; });
  }
  void simulation_finished(std::uint64_t) override {}
  Task* pick(WorkerId, bool) override { return nullptr; }
  bool awaits_simulation() const override { return true; }

 private:
  bool begins_;
  schedule::what_if::Unfinished unfinished_;
};

struct WhatIfSimulationDuringARun : testing::Test {
  /// A chain of so many tasks on each of four numbers, of which the first one waits for what is found if it is told to.
  void run(WhatIfSimulation::Evaluation judge, bool waits) {
    Config config;
    config.set("workers", 2);
    config.set("memory", "8MiB");
    config.set("bind-threads", false);
    Runtime runtime(config);
    front::core_of(runtime).replace_policy(std::make_unique<Asking>(std::move(judge), finding), "asking");
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
  std::atomic<int> plays = 0;
  run(
      [&plays](Simulator& stage) -> std::uint64_t {
        const std::vector<std::string> policies{"blocks", "darts", "dmdas", "static"};
        for (const SimulationOutcome& played : stage.simulate(policies, all, Duration::max()))
          plays += played.completed();
        return 1000;
      },
      true);
  EXPECT_GE(plays, 1);  // who takes much longer than another is not listened to
}

// The judge would go on for ever. It is told to end when the runtime ends.
TEST_F(WhatIfSimulationDuringARun, EndsWithTheRuntime) {
  std::atomic<bool> has_ended = false;
  run(
      [&has_ended](Simulator& stage) -> std::uint64_t {
        while (stage.simulate("eager", all, Duration::max()).completed()) continue;
        has_ended = true;
        return 1;
      },
      false);
  EXPECT_TRUE(has_ended);
}

TEST_F(WhatIfSimulationDuringARun, FindsNothingIfTheJudgeFails) {
  run([](Simulator&) -> std::uint64_t { throw std::bad_alloc(); }, false);
  // The runtime has gone: it was told before, or not at all.
}

// Two MiB would take two seconds there. What is in the program's own memory comes back in the end, as in a run.
TEST(WhatIfSimulationOfDataThatFit, LeavesResultsWhereTheyAre) {
  Config config;
  config.set("workers", 2);
  config.set("memory", "32MiB");
  config.set("disk-bandwidth", "1MB/s");
  Runtime runtime(config);
  std::promise<std::uint64_t> finding;
  auto found = finding.get_future();
  const auto judge = [](Simulator& stage) {
    const SimulationOutcome played = stage.simulate("eager", all, Duration::max());
    return static_cast<std::uint64_t>(played.completed() ? played.time.count() : 0);
  };
  front::core_of(runtime).replace_policy(std::make_unique<Asking>(judge, finding), "asking");
  const auto set =
      codelet("set").cpu([](Out<Vector<double>> v) { std::fill(v.data(), v.data() + v.size(), 1.0); });
  std::vector<Handle<Vector<double>>> data;
  Flow flow(runtime);
  for (int i = 0; i < 4; ++i) {
    data.push_back(runtime.vector<double>("v", 1 << 16));
    flow.submit(set(data.back()));
  }
  flow.wait();
  const Duration played(static_cast<std::int64_t>(found.get()));
  EXPECT_GT(played, Duration{});
  EXPECT_LT(played, std::chrono::milliseconds(500));
}

TEST(PoliciesThatWaitForEver, AreBelievedOnlyDuringASimulation) {
  for (const bool begins : {false, true}) {
    SCOPED_TRACE(begins);
    Config config;
    config.set("workers", 2);
    config.set("bind-threads", false);
    Runtime runtime(config);
    front::core_of(runtime).replace_policy(std::make_unique<WaitingStill>(begins), "still");
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

}  // namespace fairlead
