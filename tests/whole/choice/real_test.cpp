// Codelets with several bodies on real workers: results are those of the program's order with any body, and
// all reports of a task name its body.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fairlead/fairlead.hpp>
#include <fairlead/report.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/replay.hpp"
#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"
#include "schedule/policies.hpp"
#include "temporary_directory.hpp"
#include "trace/snapshot.hpp"

namespace fairlead {

using testing::HasSubstr;
using namespace std::chrono_literals;

namespace {

Config config_with(std::size_t workers, const char* scheduler = "lws") {
  Config config;
  config.set("workers", workers);
  config.set("memory", "2MiB");
  config.set("scheduler", scheduler);
  config.set("bind-threads", false);
  return config;
}

/// Both add; one of them is slow. Their calls are counted.
struct TwoBodies {
  std::atomic<int> quick = 0, slow = 0;
  Codelet<InOut<double>, double> add = codelet("add")
                                           .cpu("slow",
                                                [this](InOut<double> x, double much) {
                                                  std::this_thread::sleep_for(2ms);
                                                  ++slow;
                                                  *x += much;
                                                })
                                           .cpu("quick", [this](InOut<double> x, double much) {
                                             ++quick;
                                             *x += much;
                                           });
};

}  // namespace

TEST(SeveralBodies, AreAllTriedAndTheFastestIsSelected) {
  Runtime runtime(config_with(2));
  TwoBodies bodies;
  double x = 0;
  const auto number = runtime.value("x", x);
  Flow flow(runtime);
  for (int i = 0; i < 500; ++i) flow.submit(bodies.add(number, 1));
  flow.wait();
  EXPECT_EQ(x, 500);
  EXPECT_EQ(bodies.slow + bodies.quick, 500);
  EXPECT_GE(bodies.slow, 5);
  EXPECT_LE(bodies.slow, 30);
}

// The fast path makes no decisions: the engine runs tasks with several bodies, the fast path the others.
TEST(SeveralBodies, DoNotUseTheFastPath) {
  Runtime runtime(config_with(2));
  TwoBodies bodies;
  const auto one = codelet("one").cpu("only", [](InOut<double> x) { *x += 1; });
  double x = 0, y = 0;
  const auto chosen = runtime.value("x", x), direct = runtime.value("y", y);
  Flow flow(runtime);
  for (int i = 0; i < 100; ++i) {
    flow.submit(bodies.add(chosen, 1));
    flow.submit(one(direct));
  }
  flow.wait();
  Recording step(runtime);
  step.submit(bodies.add(chosen, 1));
  step.submit(one(direct));
  for (int i = 0; i < 50; ++i) step.run();
  EXPECT_EQ(x, 150);
  EXPECT_EQ(y, 150);
  EXPECT_GT(front::core_of(runtime).engine().fast_path().tasks(), 0u);
  EXPECT_LE(front::core_of(runtime).engine().fast_path().tasks(), 150u);
  EXPECT_EQ(bodies.slow + bodies.quick, 150);
  EXPECT_GE(bodies.slow, 5);
}

TEST(SeveralBodies, ForDevicesAreChosenByThemselves) {
  Config config = config_with(1, "eager");
  config.set("devices", "emulated:memory=1MiB");
  Runtime runtime(config);
  TwoBodies bodies;
  std::atomic<int> on_device = 0, other_on_device = 0;
  const auto there = codelet("there")
                         .emulated("slow",
                                   [&](InOut<double> x) {
                                     std::this_thread::sleep_for(2ms);
                                     ++other_on_device;
                                     *x += 1;
                                   })
                         .emulated("quick", [&](InOut<double> x) {
                           ++on_device;
                           *x += 1;
                         });
  const auto both = bodies.add.emulated();  // the two that cores have
  double x = 0, y = 0;
  const auto first = runtime.value("x", x), second = runtime.value("y", y);
  Flow flow(runtime);
  for (int i = 0; i < 200; ++i) {
    flow.submit(there(first));
    flow.submit(both(second, 1).on(runtime.memory_node("emulated 0")));
  }
  flow.wait();
  runtime.flush();
  EXPECT_EQ(x, 200);
  EXPECT_EQ(y, 200);
  EXPECT_GE(other_on_device, 5);
  EXPECT_LE(other_on_device, 30);
  EXPECT_GE(bodies.slow, 5);
  EXPECT_LE(bodies.slow, 30);
}

TEST(SeveralBodies, AreKnownInTheNextRun) {
  const tests::TemporaryDirectory directory;
  Config config = config_with(1);
  config.set("cache-directory", directory.path().string());
  for (int round = 0; round < 2; ++round) {
    Runtime runtime(config);
    TwoBodies bodies;
    double x = 0;
    const auto number = runtime.value("x", x);
    Flow flow(runtime);
    for (int i = 0; i < 60; ++i) flow.submit(bodies.add(number, 1));
    flow.wait();
    EXPECT_EQ(x, 60);
    EXPECT_EQ(bodies.slow >= 5, round == 0);
    EXPECT_EQ(bodies.slow == 0, round == 1);
  }
}

TEST(SeveralBodies, ReplayFromTheLogOfTheirRun) {
  const tests::TemporaryDirectory directory;
  Config config = config_with(3, "dmda");
  config.set("cache-directory", directory.path().string());
  config.set("event-log", (directory / "run.log").string());
  for (int round = 0; round < 3; ++round) {
    Runtime::Digest commands{};
    {
      Runtime runtime(config);
      TwoBodies bodies;
      std::vector<double> values(8);
      Flow flow(runtime);
      std::vector<Handle<double>> numbers;
      for (double& value : values) numbers.push_back(runtime.value("x", value));
      for (int i = 0; i < 400; ++i) flow.submit(bodies.add(numbers[static_cast<std::size_t>(i * 7 % 8)], 1));
      flow.wait();
      runtime.flush();
      commands = runtime.command_digest();
    }
    const engine::LogFile log = engine::EventLog::read((directory / "run.log").string());
    const auto replayed = engine::replay(log.head, schedule::make_policy(log.head.policy), log.words);
    EXPECT_EQ(replayed.digest, commands.value);
  }
}

// One completes by its token, the other when it returns; one is parallel inside.
TEST(SeveralBodies, MayDifferInTheirCompletion) {
  Runtime runtime(config_with(3));
  std::mutex mutex;  // the next body may run before this one has returned
  std::vector<std::thread> threads;
  std::atomic<int> later = 0, teams = 0;
  const auto add = codelet("add")
                       .cpu("later",
                            [&](Completion completion, InOut<int> x) {
                              int& value = *x;
                              const std::lock_guard guard(mutex);
                              threads.emplace_back([&value, &later, completion]() mutable {
                                std::this_thread::sleep_for(100us);
                                ++value;
                                ++later;
                                completion.done();
                              });
                            })
                       .cpu("now", [](InOut<int> x) { ++*x; })
                       .cpu("team", [&](Team team, InOut<int> x) {
                         teams += team.width() == 2;
                         ++*x;
                       });
  int x = 0, y = 0;
  const auto number = runtime.value("x", x), wide = runtime.value("y", y);
  Flow flow(runtime);
  for (int i = 0; i < 100; ++i) flow.submit(add(number));
  flow.wait();
  for (int i = 0; i < 100; ++i) flow.submit(add(wide).workers(2));
  flow.wait();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(x, 100);
  EXPECT_EQ(y, 100);
  EXPECT_GE(later, 10);
  EXPECT_GE(teams, 5);
}

// ---- messages

TEST(SeveralBodies, AreNamedInErrors) {
  const auto fails = [](InOut<int>) { throw std::runtime_error("no"); };
  const auto text_of = [&](const auto& broken) {
    Runtime runtime(config_with(1));
    int x = 0;
    const auto number = runtime.value("x", x);
    Flow flow(runtime);
    flow.submit(broken(number));
    try {
      flow.wait();
    } catch (const TaskError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(text_of(codelet("broken").cpu("first", fails).cpu("second", fails)),
              HasSubstr("the task broken (first)(x), submitted at"));
  EXPECT_THAT(text_of(codelet("fails").cpu(fails).cpu("second", fails)),
              HasSubstr("the task fails (without a name)(x), submitted at"));
  EXPECT_THAT(text_of(codelet("alone").cpu("only", fails)), HasSubstr("the task alone(x), submitted at"));
}

TEST(SeveralBodies, AreNamedWhileTheyRun) {
  Runtime runtime(config_with(2));
  std::atomic<bool> go = false;
  const auto wait = [&](InOut<int>) {
    while (!go) std::this_thread::sleep_for(1ms);
  };
  int x = 0;
  const auto number = runtime.value("x", x);
  const auto waits = codelet("waits").cpu("long", wait).cpu("short", wait);
  Flow flow(runtime);
  flow.submit(waits(number));
  std::string said;
  for (int i = 0; i < 5000 && said.find(" runs on ") == std::string::npos; ++i) {
    std::this_thread::sleep_for(1ms);
    said = runtime.status();
  }
  go = true;
  EXPECT_THAT(said, HasSubstr("waits (long)(x), submitted at"));
  flow.wait();
}

TEST(SeveralBodies, HaveDifferentNamesInTraces) {
  Config config = config_with(1);
  config.set("trace", "/dev/null");
  Runtime runtime(config);
  TwoBodies bodies;
  const auto one = codelet("one").cpu("only", [](InOut<double> x) { *x += 1; });
  double x = 0;
  const auto number = runtime.value("x", x);
  Flow flow(runtime);
  for (int i = 0; i < 50; ++i) flow.submit(bodies.add(number, 1));
  flow.submit(one(number));
  flow.wait();
  const trace::Snapshot recorded = front::recorded_by(runtime);
  EXPECT_EQ(std::set(recorded.codelets.begin(), recorded.codelets.end()),
            (std::set<std::string>{"add (slow)", "add (quick)", "one"}));
  int slow = 0;
  for (const auto& task : recorded.tasks) slow += recorded.codelets[task.codelet] == "add (slow)";
  EXPECT_EQ(slow, bodies.slow);
  write_recorded(runtime, config);
}

}  // namespace fairlead
