// Recordings: analysed once and run many times, each time with the results of a flow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"
#include "schedule/policies.hpp"
#include "whole/every_policy.hpp"

namespace fairlead {
namespace {

using testing::HasSubstr;

Config config_with(int workers, const std::string& scheduler = "lws", const std::string& memory = "1MiB") {
  Config config;
  config.set("workers", workers);
  config.set("memory", memory);
  config.set("scheduler", scheduler);
  config.set("bind-threads", false);
  return config;
}

class Recorded : public testing::Test {
 protected:
  Runtime runtime{config_with(2)};
  double x = 0, y = 0;
  Handle<double> first = runtime.value("x", x), second = runtime.value("y", y);
  Codelet<InOut<double>, double> add = codelet("add").cpu([](InOut<double> to, double what) { *to += what; });
  Codelet<In<double>, InOut<double>> add_to =
      codelet("add to").cpu([](In<double> from, InOut<double> to) { *to += *from; });
};

}  // namespace

TEST_F(Recorded, TasksRunOncePerCallOfRun) {
  Recording step(runtime);
  step.submit(add(first, 1));
  step.submit(add_to(first, second));
  EXPECT_EQ(step.tasks(), 2u);
  EXPECT_EQ(x, 0);
  for (int i = 0; i < 10; ++i) step.run();
  EXPECT_EQ(x, 10);
  EXPECT_EQ(y, 55);
  EXPECT_EQ(runtime.statistics().tasks, 20u);
}

TEST_F(Recorded, TasksRunBetweenEarlierAndLaterTasksOfFlows) {
  Recording step(runtime);
  step.submit(add_to(first, second));
  Flow flow(runtime);
  for (int i = 0; i < 5; ++i) {
    flow.submit(add(first, 1));
    step.run();
  }
  flow.submit(add_to(first, second));
  flow.wait();
  EXPECT_EQ(y, 1 + 2 + 3 + 4 + 5 + 5);
}

TEST_F(Recorded, ManyReadyTasksNeedFewDescriptors) {
  const std::size_t many = tests::many_cases() ? 50'000 : 15'000;
  std::atomic<std::size_t> seen{0};
  const auto look = codelet("look").cpu([&seen](In<double> what) { seen += *what == 1; });
  for (const int priority : {0, 1, -1}) {  // by the fast path, ahead in it, and by the engine
    Recording step(runtime);
    step.submit(add(second, 1));
    step.submit(add(first, 1));
    for (std::size_t i = 0; i < many; ++i) step.submit(look(first).priority(priority));
    step.submit(add(first, -1));
    for (std::size_t i = 0; i < many; ++i) step.submit(look(second).priority(priority));
    step.submit(add(second, -1));
    step.run();
  }
  EXPECT_EQ(seen, 6 * many);
  std::size_t descriptors = 0;
  front::core_of(runtime).graph().tasks().for_each([&](const Task&) { ++descriptors; });
  EXPECT_LT(descriptors, 12'500u);
}

TEST_F(Recorded, ArgumentsKeepTheirValues) {
  std::vector<std::string> seen;
  const auto look = codelet("look").cpu([&seen](InOut<double>, std::string text, std::vector<int> numbers) {
    seen.push_back(text + std::to_string(numbers.size()));
  });
  Recording step(runtime);
  {
    std::string text = "a text that is too long to be kept inside";
    step.submit(look(first, text, std::vector<int>(3)));
    text = "changed";
  }
  step.run();
  step.run();
  EXPECT_THAT(seen, testing::ElementsAre("a text that is too long to be kept inside3",
                                         "a text that is too long to be kept inside3"));
}

TEST_F(Recorded, ATaskMayReadWhatAnEarlierOneWrites) {
  const auto vector = runtime.vector<double>("v", 100);
  const auto set = codelet("set").cpu([](Out<Vector<double>> v) { v(0) = 7; });
  const auto get = codelet("get").cpu([](In<Vector<double>> v, Out<double> to) { *to = v(0); });
  Recording step(runtime);
  EXPECT_THROW(step.submit(get(vector, first)), UsageError);
  step.submit(set(vector));
  step.submit(get(vector, first));
  Flow flow(runtime);
  EXPECT_THROW(flow.submit(get(vector, first)), UsageError) << "nothing has run yet";
  step.run();
  EXPECT_EQ(x, 7);
  flow.submit(get(vector, second));
  flow.wait();
  EXPECT_EQ(y, 7);
}

TEST_F(Recorded, AFailureIsReportedAndTheNextRunLacksItsInput) {
  std::atomic<bool> fail = true;
  const auto sometimes = codelet("sometimes").cpu([&fail](Out<double> to) {
    if (fail) throw std::runtime_error("not today");
    *to = 1;
  });
  Recording step(runtime);
  step.submit(sometimes(first));
  step.submit(add_to(first, second));
  try {
    step.run();
    FAIL();
  } catch (const TaskError& error) {
    EXPECT_THAT(error.what(), HasSubstr("sometimes(x)"));
    EXPECT_THAT(error.what(), HasSubstr("recording_test.cpp"));
    EXPECT_THAT(error.what(), HasSubstr("not today"));
  }
  fail = false;
  EXPECT_THROW(step.run(), TaskError) << "y is missing";
  const auto reset = codelet("reset").cpu([](Out<double> to) { *to = 0; });
  Flow flow(runtime);
  flow.submit(reset(second));
  flow.wait();
  step.run();
  EXPECT_EQ(y, 1);
}

TEST_F(Recorded, InvalidRecordingsAreRefused) {
  Recording step(runtime);
  step.submit(add(first, 1));
  Flow flow(runtime);
  {
    const auto hold = flow.acquire(read(second));
    EXPECT_THROW(step.run(), UsageError) << "it would wait for this thread";
  }
  step.run();
  EXPECT_THROW(step.submit(add(first, 1)), UsageError) << "it has run";
  runtime.remove(first);
  EXPECT_THROW(step.run(), UsageError) << "a datum was removed";
}

TEST_F(Recorded, ACancelledRecordingDoesNotRun) {
  Recording step(runtime);
  step.submit(add(first, 1));
  step.run();
  step.cancel();
  EXPECT_THROW(step.run(), TaskError);
  EXPECT_EQ(x, 1);
}

TEST_F(Recorded, ThousandsOfTasksMayBeReadyAtOnce) {
  std::vector<double> values(20'000);
  std::vector<Handle<double>> handles;
  for (double& value : values) handles.push_back(runtime.value("v", value));
  Recording step(runtime);
  for (const auto& handle : handles) step.submit(add(handle, 1));
  for (int i = 0; i < 3; ++i) step.run();
  for (const double value : values) ASSERT_EQ(value, 3);
}

TEST_F(Recorded, NoticesChangesToItsDataBetweenRuns) {
  const auto vector = runtime.vector<double>("v", 1024);
  const auto grow = codelet("grow").cpu([](InOut<Vector<double>> v) { v(0) += 1; });
  const auto set = codelet("set").cpu([](Out<Vector<double>> v) { v(0) = 0; });
  Recording step(runtime), other(runtime);
  step.submit(set(vector));
  step.submit(grow(vector));
  other.submit(add(first, 1));
  for (int i = 0; i < 3; ++i) step.run();
  other.run();
  const auto sum = codelet("sum").cpu([](Reduce<double> to) { *to += 10; });
  Flow flow(runtime);
  for (int i = 0; i < 4; ++i) flow.submit(sum(first));
  other.run();
  EXPECT_EQ(x, 42);
  double z = 0;
  runtime.remove(runtime.value("z", z));
  other.run();
  EXPECT_EQ(x, 43);
  const auto halves = runtime.split(vector, 512);
  EXPECT_THROW(step.run(), UsageError);
  other.run();
  EXPECT_EQ(x, 44);
}

/// A tree of tasks. One task fails, so that the engine runs the remaining tasks, in a run that used a single
/// thread until then.
TEST(RecordedAlone, FallsBackToTheEngineAfterAFailureForOneRun) {
  constexpr int count = 255;
  Runtime runtime(config_with(1));
  std::vector<double> values(count);
  std::vector<Handle<double>> data;
  for (double& value : values) data.push_back(runtime.value("v", value));
  int fails = -1;
  const auto root = codelet("root").cpu([](Out<double> v) { *v = 1; });
  const auto child = codelet("child").cpu([&fails](In<double> parent, Out<double> v, int number) {
    if (number == fails) throw std::runtime_error("not this one");
    *v = *parent + 1;
  });
  Recording tree(runtime);
  tree.submit(root(data[0]));
  for (int i = 1; i < count; ++i) tree.submit(child(data[(i - 1) / 2], data[i], i));
  for (const int at : {1, 7, 100, 200, -1}) {
    std::ranges::fill(values, 0);
    fails = at;
    if (at > 0)
      EXPECT_THROW(tree.run(), TaskError);
    else
      tree.run();
    const auto depends_on_it = [at](int i) {
      while (i > at && i > 0) i = (i - 1) / 2;
      return at > 0 && i == at;
    };
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(values[i], depends_on_it(i) ? 0 : std::bit_width(static_cast<unsigned>(i + 1))) << i;
  }
}

TEST(RecordedAlone, CanBeCancelledByAnotherThread) {
  for (int round = 0; round < (tests::many_cases() ? 20 : 5); ++round) {
    Runtime runtime(config_with(1));
    double value = 0;
    const auto datum = runtime.value("v", value);
    std::atomic<bool> begun = false;
    const auto add = codelet("add").cpu([&begun](InOut<double> v) {
      *v += 1;
      begun = true;
    });
    Recording chain(runtime);
    for (int i = 0; i < 20'000; ++i) chain.submit(add(datum));
    std::thread other([&] {
      while (!begun) std::this_thread::yield();
      chain.cancel();
    });
    try {
      chain.run();
      EXPECT_EQ(value, 20'000);  // it was faster
    } catch (const TaskError&) {
      EXPECT_LT(value, 20'000);
    }
    other.join();
  }
}

/// A step of a random recording: its operation on the datum `c`.
struct Step {
  enum Kind : std::uint8_t { mix, more, add, set } kind = mix;
  std::size_t a = 0, b = 0, c = 0;
  double by = 0;

  void apply(std::vector<double>& values) const {
    double& own = values[c];
    if (kind == mix)
      own = static_cast<double>(static_cast<long>(own + by * values[a] + 3 * values[b]) % 10'007);
    else
      own = kind == set ? by : own + by;
  }
};

/// The codelets and data of a random recording: the first and the last element of each datum hold its value.
struct Drawn {
  using V = Tile<double>;
  Codelet<Out<V>, double> set = codelet("set").cpu([](Out<V> v, double x) { v(0, 0) = v(1023, 0) = x; });
  Codelet<In<V>, In<V>, InOut<V>, double> mix =
      codelet("mix").cpu([](In<V> a, In<V> b, InOut<V> c, double by) {
        c(0, 0) = c(1023, 0) =
            static_cast<double>(static_cast<long>(c(0, 0) + by * a(0, 0) + 3 * b(1023, 0)) % 10'007);
      });
  Codelet<Commute<V>, double> more =
      codelet("more").cpu([](Commute<V> v, double by) { v(0, 0) = v(1023, 0) += by; });
  Codelet<Reduce<V>, double> add =
      codelet("add").cpu([](Reduce<V> v, double by) { v(0, 0) = v(1023, 0) += by; });
  std::vector<Handle<V>> data;

  void submit(const Step& step, auto& to, int priority = 0) const {
    if (step.kind == Step::more)
      to.submit(more(data[step.c], step.by));
    else if (step.kind == Step::add)
      to.submit(add(data[step.c], step.by));
    else if (step.kind == Step::set)
      to.submit(set(data[step.c], step.by));
    else if (priority != 0)
      to.submit(mix(data[step.a], data[step.b], data[step.c], step.by).priority(priority));
    else
      to.submit(mix(data[step.a], data[step.b], data[step.c], step.by));
  }
  Step draw(Random& random) const {
    const std::size_t count = data.size(), c = random.below(count),
                      a = (c + 1 + random.below(count - 1)) % count,
                      b = (c + 1 + random.below(count - 1)) % count;
    const std::uint64_t kind = random.below(12);
    return {kind < 2   ? Step::more
            : kind < 5 ? Step::add
            : kind < 6 ? Step::set
                       : Step::mix,
            a, b, c, static_cast<double>(random.below(50))};
  }
};

/// Random programs, run several times in little or enough memory by every policy. Between the runs a flow
/// reduces: the partial results are added before the recording uses the values, and never to a value that the
/// recording has replaced.
TEST(RandomRecordings, GiveTheSequentialResults) {
  for (const std::string& policy : tests::every_policy())
    for (const std::uint64_t seed : tests::seeds_for(policy, 1, 12)) {
      Random random(seed);
      Config config =
          config_with(static_cast<int>(1 + seed % 3), policy, random.once_in(2) ? "1MiB" : "96KiB");
      Runtime runtime(config);
      constexpr std::size_t count = 12;
      std::vector<double> expected(count);
      Drawn drawn;
      Flow flow(runtime);
      for (std::size_t i = 0; i < count; ++i) {
        drawn.data.push_back(runtime.matrix<double>("v" + std::to_string(i), 1024, 1));
        flow.submit(drawn.set(drawn.data[i], expected[i] = static_cast<double>(i)));
      }
      std::vector<Step> steps;
      Recording recording(runtime);
      for (int t = 0; t < 120; ++t) {
        steps.push_back(drawn.draw(random));
        drawn.submit(steps.back(), recording, random.once_in(4) ? t % 4 : 0);
      }
      for (int run = 0; run < 4; ++run) {
        for (int i = 0; run % 2 == 1 && i < 20; ++i) {
          const Step step{Step::add, 0, 0, random.below(3), static_cast<double>(i)};
          drawn.submit(step, flow);
          step.apply(expected);
        }
        recording.run();
        for (const Step& step : steps) step.apply(expected);
      }
      std::atomic<int> wrong = 0;
      const auto check = codelet("check").cpu(
          [&wrong](In<Tile<double>> v, double x) { wrong += v(0, 0) != x || v(1023, 0) != x; });
      for (std::size_t i = 0; i < count; ++i) flow.submit(check(drawn.data[i], expected[i]));
      flow.wait();
      ASSERT_EQ(wrong, 0) << policy << ", seed " << seed;
    }
}

/// Partial results of a flow belong to the value before the recording, which replaces it.
TEST_F(Recorded, AWriteReplacesPartialResultsOfAFlow) {
  const auto sum = codelet("sum").cpu([](Reduce<double> to, double by) { *to += by; });
  const auto set = codelet("set").cpu([](Out<double> it, double value) { *it = value; });
  Recording step(runtime);
  for (int i = 0; i < 4; ++i) step.submit(sum(first, 1));
  step.submit(set(first, 7));
  for (int i = 0; i < 4; ++i) step.submit(sum(first, 10));
  Flow flow(runtime);
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 4; ++i) flow.submit(sum(first, 100));
    step.run();
    EXPECT_EQ(x, 47);
  }
}

}  // namespace fairlead
