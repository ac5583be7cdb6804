// Which tasks take the fast path and what closes it, as seen by a program that uses the runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <array>
#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"
#include "sanitized.hpp"

namespace fairlead {
namespace {

using testing::HasSubstr;
constexpr int size = 8192;  // of a vector: 64 KiB; the memory holds sixteen

class FastPathTest : public testing::Test {
 protected:
  explicit FastPathTest(int workers = 2) : runtime(config_with(workers)) {}

  static Config config_with(int workers) {
    Config config;
    config.set("workers", workers);
    config.set("memory", "1MiB");
    config.set("scheduler", "lws");
    config.set("bind-threads", false);
    return config;
  }
  /// The number of tasks that have taken the fast path.
  std::uint64_t passed() { return front::core_of(runtime).engine().fast_path().tasks(); }
  bool open() { return front::core_of(runtime).engine().fast_path().generation() != 0; }

  Runtime runtime;
  double sum = 0;
  Handle<double> total = runtime.value("total", sum);
  Codelet<InOut<double>, double> add = codelet("add").cpu([](InOut<double> to, double what) { *to += what; });
  Codelet<Out<Vector<double>>, double> fill = codelet("fill").cpu([](Out<Vector<double>> v, double x) {
    for (int i = 0; i < size; ++i) v(i) = x;
  });
};

}  // namespace

TEST_F(FastPathTest, RunsTasksWithoutSpecialRequirements) {
  Flow flow(runtime);
  for (int i = 1; i <= 100; ++i) flow.submit(add(total, i));
  flow.wait();
  EXPECT_EQ(sum, 5050);
  EXPECT_EQ(passed(), 100u);
  EXPECT_EQ(runtime.statistics().tasks, 100u);
}

// The sums over workers include the tasks of the fast path.
TEST_F(FastPathTest, CountsItsTasksAndTheirTimesForTheWorkers) {
  Flow flow(runtime);
  for (int i = 1; i <= 100; ++i) flow.submit(add(total, i));
  flow.wait();
  ASSERT_EQ(passed(), 100u);
  std::uint64_t tasks = 0;
  std::chrono::nanoseconds busy{};
  for (const Statistics::Worker& worker : runtime.statistics().workers) {
    tasks += worker.tasks;
    busy += worker.busy;
  }
  EXPECT_EQ(tasks, 100u);
  EXPECT_GT(busy.count(), 0);
}

/// A thread that is no worker reports the end of the second task: the tasks that it releases take the fast path, too.
TEST(FastPathFromOutside, RunsTasksThatAreReleasedByOtherThreads) {
  for (const int workers : {1, 2}) {
    Config config;
    config.set("workers", workers);
    config.set("memory", "1MiB");
    config.set("bind-threads", false);
    Runtime runtime(config);
    double sum = 0;
    const auto total = runtime.value("total", sum);
    const auto add = codelet("add").cpu([](InOut<double> to) { ++*to; });
    std::promise<Completion> begun;
    const auto later = codelet("later").cpu([&begun](Completion completion, InOut<double> to) {
      ++*to;
      begun.set_value(completion);
    });
    std::thread outside([future = begun.get_future()]() mutable { future.get().done(); });
    Flow flow(runtime);
    flow.submit(add(total));
    flow.submit(later(total));
    for (int i = 0; i < 10; ++i) flow.submit(add(total));
    flow.wait();
    outside.join();
    EXPECT_EQ(sum, 12);
    EXPECT_EQ(front::core_of(runtime).engine().fast_path().tasks(), 11u);
  }
}

TEST_F(FastPathTest, RunsTasksOfAllPrioritiesFromZero) {
  Flow flow(runtime);
  for (int i = 0; i < 300; ++i) flow.submit(add(total, 1).priority(i % 3 - 1));
  flow.wait();
  EXPECT_EQ(sum, 300);
  EXPECT_EQ(passed(), 200u);
}

/// The program's thread, the only worker, runs nothing before it waits.
class FastPathAlone : public FastPathTest {
 protected:
  FastPathAlone() : FastPathTest(1) {}
};

TEST_F(FastPathAlone, RunsPositivePrioritiesFirstInReadyOrder) {
  std::vector<int> order;
  std::array<double, 12> numbers{};
  auto note = codelet("note").cpu([&](InOut<double>, int which) { order.push_back(which); });
  Flow flow(runtime);
  for (int i = 0; i < 12; ++i)
    flow.submit(note(runtime.value("x", numbers[static_cast<std::size_t>(i)]), i).priority(i % 3));
  flow.wait();
  EXPECT_EQ(passed(), 12u);
  EXPECT_THAT(order, testing::ElementsAre(1, 2, 4, 5, 7, 8, 10, 11, 0, 3, 6, 9));
}

/// An urgent released task runs before tasks that have waited longer, any other one after the urgent tasks.
TEST_F(FastPathAlone, AppliesPrioritiesToReleasedTasks) {
  std::vector<std::string> order;
  double a = 0, b = 0, c = 0;
  const auto x = runtime.value("a", a), y = runtime.value("b", b), z = runtime.value("c", c);
  auto note = codelet("note").cpu([&](InOut<double>, std::string which) { order.push_back(which); });
  Flow flow(runtime);
  flow.submit(note(x, "first"));
  flow.submit(note(y, "waits"));
  flow.submit(note(x, "urgent").priority(2));
  flow.submit(note(x, "ordinary"));
  flow.submit(note(z, "other").priority(1));
  flow.wait();
  EXPECT_THAT(order, testing::ElementsAre("other", "first", "urgent", "ordinary", "waits"));
}

/// The thread that drains the queues of the closed fast path holds tasks that are not reported to the engine yet.
TEST(FastPathAndHolds, AWaitIsAcceptedWhileTheQueuesAreDrained) {
  Config config;
  config.set("workers", 4);
  config.set("memory", "1MiB");
  config.set("scheduler", "lws");
  config.set("bind-threads", false);
  Runtime runtime(config);
  constexpr std::size_t rounds = tests::thread_sanitized ? 500 : 2000, count = 8;
  double held = 0;
  const auto datum = runtime.value("held", held);
  std::array<double, count> sums{};
  std::vector<Handle<double>> totals;
  for (double& sum : sums) totals.push_back(runtime.value("total", sum));
  const auto add = codelet("add").cpu([](InOut<double> to, double what) { *to += what; });
  Flow flow(runtime);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const auto& total : totals) flow.submit(add(total, 1));
    const auto hold = flow.acquire(update(datum));
    flow.future(add(totals[round % count], 0)).wait();  // throws if it seems that it cannot end
  }
  flow.wait();
  EXPECT_THAT(sums, testing::Each(rounds));
}

TEST_F(FastPathTest, CanBeDisabled) {
  Config config = config_with(2);
  config.set("fast-path", false);
  Runtime other(config);
  const auto here = other.value("total", sum);
  Flow flow(other);
  flow.submit(add(here, 1));
  flow.wait();
  EXPECT_EQ(front::core_of(other).engine().fast_path().tasks(), 0u);
  EXPECT_EQ(sum, 1);
}

TEST_F(FastPathTest, ClosesWhenATaskFailsSoThatReadersOfItsResultDoNotRun) {
  double copied = 0;
  const auto copy = runtime.value("copy", copied);
  const auto fail = codelet("fail").cpu([](InOut<double>) { throw std::runtime_error("no"); });
  const auto read = codelet("read").cpu([](In<double> from, Out<double> to) { *to = *from + 1; });
  Flow flow(runtime);
  flow.submit(add(total, 1));
  flow.submit(fail(total));
  flow.submit(read(total, copy));
  EXPECT_THROW(flow.wait(), TaskError);
  EXPECT_EQ(copied, 0);
  EXPECT_FALSE(open());
}

TEST_F(FastPathTest, OpensAgainForValidData) {
  double other_sum = 0;
  const auto other = runtime.value("other", other_sum);
  const auto fail = codelet("fail").cpu([](InOut<double>) { throw std::runtime_error("no"); });
  Flow flow(runtime);
  flow.submit(fail(total));
  EXPECT_THROW(flow.wait(), TaskError);
  const auto before = passed();
  flow.submit(add(other, 1));
  flow.wait();
  EXPECT_EQ(passed(), before + 1);
  flow.submit(add(total, 1));
  EXPECT_THROW(flow.wait(), TaskError) << "its input is still missing";
}

TEST_F(FastPathTest, RunsNoMoreTasksOfACancelledFlow) {
  Flow flow(runtime);
  std::promise<void> go;
  std::atomic<int> ran = 0;
  const auto wait =
      codelet("wait").cpu([go = std::shared_future<void>(go.get_future())](InOut<double>) { go.wait(); });
  const auto count = codelet("count").cpu([&ran](InOut<double>) { ++ran; });
  flow.submit(wait(total));
  for (int i = 0; i < 20; ++i) flow.submit(count(total));
  flow.cancel();
  go.set_value();
  EXPECT_THROW(flow.wait(), TaskError);
  EXPECT_EQ(ran, 0);
}

/// Twenty-four vectors do not fit, so some are evicted to the disk while tasks of the fast path are still queued.
TEST_F(FastPathTest, ClosesUnderLoadWhenFurtherDataDoNotFit) {
  const auto grow = codelet("grow").cpu([](InOut<Vector<double>> v) {
    for (int i = 0; i < size; ++i) ++v(i);
  });
  std::vector<Handle<Vector<double>>> vectors;
  Flow flow(runtime);
  for (int i = 0; i < 24; ++i) {
    vectors.push_back(runtime.vector<double>("v" + std::to_string(i), size));
    flow.submit(fill(vectors.back(), i));
    for (int k = 0; k < 10; ++k)
      for (const auto& vector : vectors) flow.submit(grow(vector));
    if (i == 8) flow.wait();  // so that some have taken the fast path for certain
  }
  std::atomic<int> wrong = 0;
  const auto check = codelet("check").cpu([&wrong](In<Vector<double>> v, double expected) {
    for (int i = 0; i < size; ++i) wrong += v(i) != expected;
  });
  for (int i = 0; i < 24; ++i) flow.submit(check(vectors[static_cast<std::size_t>(i)], i + 10 * (24 - i)));
  flow.wait();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(passed(), 0u);
  EXPECT_FALSE(open());
  EXPECT_GT(runtime.statistics().nodes.at(0).evictions, 0u);
  for (std::size_t i = 8; i < 24; ++i) runtime.remove(vectors[i]);
  const auto before = passed();
  flow.submit(add(total, 1));
  flow.wait();
  EXPECT_EQ(passed(), before + 1) << "what is left fits again";
}

TEST_F(FastPathTest, ItsResultsAreWrittenBackByAFlush) {
  const auto vector = runtime.vector<double>("v", size);
  Flow flow(runtime);
  for (int round = 1; round <= 3; ++round) {
    flow.submit(fill(vector, round));
    flow.wait();
    runtime.flush();
    runtime.drop_clean();  // from now on it is on disk only
    const auto before = passed();
    double first = 0;
    const auto out = runtime.value("first", first);
    flow.submit(codelet("first").cpu([](In<Vector<double>> v, Out<double> x) { *x = v(0); })(vector, out));
    flow.wait();
    EXPECT_EQ(first, round);
    EXPECT_EQ(passed(), before) << "the datum had to be fetched";
  }
  EXPECT_GE(runtime.disk_traffic().read, 3u * 65536u);
}

TEST_F(FastPathTest, DetectsAWaitForDataThatTheCallerHolds) {
  Flow flow(runtime);
  flow.submit(add(total, 1));
  auto hold = flow.acquire(update(total));
  *hold.get<0>() += 1;
  flow.submit(add(total, 1));
  try {
    flow.wait();
    FAIL() << "the wait would never return";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("would never return"));
  }
  hold.release();
  flow.wait();
  EXPECT_EQ(sum, 3);
}

TEST_F(FastPathTest, ReportsTheTaskThatItRuns) {
  std::promise<void> inside, go;
  const auto wait = codelet("loiter").cpu([&](InOut<double>) {
    inside.set_value();
    go.get_future().wait();
  });
  Flow flow(runtime);
  flow.submit(wait(total));
  inside.get_future().wait();  // on the other worker
  EXPECT_THAT(runtime.status(), HasSubstr("loiter(total), submitted at "));
  EXPECT_THAT(runtime.status(), HasSubstr("runs on worker 1"));
  go.set_value();
  flow.wait();
  EXPECT_EQ(passed(), 1u);
}

/// The program's thread runs tasks while it waits for the first of many, and then does other work: evictions must
/// not wait for it.
TEST_F(FastPathTest, IsLeftByTheProgramsThreadWhenItsWaitEnds) {
  Flow flow(runtime);
  const Future first = flow.future(add(total, 1));
  for (int i = 0; i < 500; ++i) flow.submit(add(total, 1));
  first.wait();
  std::promise<void> over;
  const auto last = codelet("last").cpu([&over](In<Vector<double>>) { over.set_value(); });
  std::vector<Handle<Vector<double>>> vectors;
  for (int i = 0; i < 24; ++i) flow.submit(fill(vectors.emplace_back(runtime.vector<double>("v", size)), i));
  flow.submit(last(vectors.back()));
  over.get_future().wait();  // without help
  flow.wait();
  EXPECT_EQ(sum, 501);
}

/// A body that waits for the program must not keep it from registering and submitting more than fits.
TEST_F(FastPathTest, DoesNotBlockTheProgramWhenItIsClosed) {
  std::promise<void> go;
  const auto wait = codelet("wait").cpu([&](InOut<double>) { go.get_future().wait(); });
  Flow flow(runtime);
  flow.submit(wait(total));
  for (int i = 0; i < 24; ++i) flow.submit(fill(runtime.vector<double>("v", size), 1.0));
  go.set_value();
  flow.wait();
}

}  // namespace fairlead
