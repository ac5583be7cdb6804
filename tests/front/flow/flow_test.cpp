// The public interface on real threads.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <thread>
#include <vector>

#include "sanitized.hpp"

namespace fairlead {

Config settings(std::size_t workers, const char* memory = "16MiB", const char* scheduler = "lws") {
  Config config;
  config.set("workers", workers);
  config.set("memory", memory);
  config.set("scheduler", scheduler);
  return config;
}

TEST(Flow, RunsTasksInTheOrderOfTheirAccesses) {
  for (const std::size_t workers : {1, 2, 4}) {
    Runtime runtime(settings(workers));
    double x = 1, y = 0;
    const auto hx = runtime.value("x", x), hy = runtime.value("y", y);
    const auto scale = codelet("scale").cpu([](InOut<double> a, double factor) { *a *= factor; });
    const auto add = codelet("add").cpu([](In<double> a, InOut<double> b) { *b += *a; });
    Flow flow(runtime);
    double expected_x = 1, expected_y = 0;
    for (int i = 0; i < 5000; ++i) {
      flow.submit(scale(hx, i % 2 == 0 ? 2.0 : 0.5));
      flow.submit(add(hx, hy).priority(i % 7));
      expected_x *= i % 2 == 0 ? 2.0 : 0.5;
      expected_y += expected_x;
    }
    flow.wait();
    EXPECT_EQ(x, expected_x);
    EXPECT_EQ(y, expected_y);
  }
}

// A matrix four times as large as the memory it may use.
TEST(Flow, RunsOutOfCore) {
  for (const std::size_t workers : {1, 2, 4}) {
    // 64 tiles, of which 16 fit: 128 KiB each, or 32 KiB under ThreadSanitizer.
    constexpr std::int32_t tile = tests::thread_sanitized ? 64 : 128;
    constexpr Bytes memory = Bytes{16} * tile * tile * sizeof(double);
    Runtime runtime(settings(workers, (std::to_string(memory) + "B").c_str()));
    auto a = runtime.tiled<double>("A", 8 * tile, 8 * tile, tile);
    const auto fill = codelet("fill").cpu([](Out<Tile<double>> t, double value) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) t(i, j) = value;
    });
    const auto add = codelet("add").cpu([](In<Tile<double>> from, InOut<Tile<double>> to) {
      for (int j = 0; j < to.columns(); ++j)
        for (int i = 0; i < to.rows(); ++i) to(i, j) += from(i, j);
    });
    double sum = 0;
    const auto hsum = runtime.value("sum", sum);
    const auto count =
        codelet("count").cpu([](In<Tile<double>> t, Commute<double> total) { *total += t(5, 7); });
    Flow flow(runtime);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) flow.submit(fill(a(i, j), 1.0 + i + 10 * j));
    for (int round = 0; round < 3; ++round)
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) flow.submit(add(a(j, i), a((i + 3) % 8, j)));
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) flow.submit(count(a(i, j), hsum));
    flow.wait();
    double expected[8][8], total = 0;
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) expected[i][j] = 1.0 + i + 10 * j;
    for (int round = 0; round < 3; ++round)
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) expected[(i + 3) % 8][j] += expected[j][i];
    for (auto& row : expected)
      for (double value : row) total += value;
    EXPECT_EQ(sum, total);
    EXPECT_GT(runtime.statistics().nodes[0].evictions, 0u);
    EXPECT_LE(runtime.statistics().nodes[0].peak_bytes, memory);
  }
}

TEST(Flow, ReportsTheFirstFailureAndSkipsDependentTasks) {
  Runtime runtime(settings(2));
  int x = 0, y = 5;
  const auto hx = runtime.value("x", x), hy = runtime.value("y", y);
  const auto fail =
      codelet("fail").cpu([](InOut<int>) { throw std::runtime_error("the cat is on the keyboard"); });
  const auto add = codelet("add").cpu([](In<int> a, InOut<int> b) { *b += *a; });
  Flow flow(runtime);
  flow.submit(fail(hx));
  flow.submit(add(hx, hy));
  try {
    flow.wait();
    FAIL() << "no exception";
  } catch (const TaskError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("fail(x)"), std::string::npos) << text;
    EXPECT_NE(text.find("the cat is on the keyboard"), std::string::npos) << text;
    EXPECT_NE(text.find("flow_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("1 task that needed its results"), std::string::npos) << text;
  }
  EXPECT_EQ(y, 5);
}

// Tasks submitted later may need the result of the failed task: the next wait names the datum and that
// failure.
TEST(Flow, ASecondWaitNamesTheMissingDatumAndItsFailure) {
  int x = 1, y = 5, z = 7;
  Runtime runtime(settings(2));
  const auto hx = runtime.value("x", x), hy = runtime.value("y", y), hz = runtime.value("z", z);
  const auto fail =
      codelet("fail").cpu([](InOut<int>) { throw std::runtime_error("the cat is on the keyboard"); });
  const auto add = codelet("add").cpu([](In<int> a, InOut<int> b) { *b += *a; });
  Flow flow(runtime);
  flow.submit(fail(hx));
  EXPECT_THROW(flow.wait(), TaskError);
  const auto said = [&] {
    try {
      flow.wait();
    } catch (const TaskError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  flow.submit(add(hx, hy));
  const std::string one = said();
  EXPECT_NE(one.find("1 task was cancelled before it ran"), std::string::npos) << one;
  for (const char* part :
       {"add(x, y)", "at least one of x, y", "Earlier, the task", "fail(x)", "the cat is on the keyboard"})
    EXPECT_NE(one.find(part), std::string::npos) << one;
  flow.submit(add(hx, hz));
  flow.submit(add(hx, hz));
  const std::string two = said();
  EXPECT_NE(two.find("2 tasks were cancelled before they ran"), std::string::npos) << two;
  EXPECT_EQ(said(), "");
}

TEST(Flow, FinishesAnAsynchronousTaskWhenItsCompletionIsSignalled) {
  Runtime runtime(settings(2));
  int x = 0, y = 0;
  const auto hx = runtime.value("x", x), hy = runtime.value("y", y);
  std::vector<std::thread> threads;
  const auto later = codelet("later").cpu([&](Completion completion, InOut<int> a) {
    threads.emplace_back([completion, &a = a.get()] {
      a = 42;
      completion.done();
    });
  });
  const auto copy = codelet("copy").cpu([](In<int> a, Out<int> b) { *b = *a; });
  const auto drop = codelet("drop").cpu([](Completion, InOut<int>) {});
  Flow flow(runtime);
  flow.submit(later(hx));
  flow.submit(copy(hx, hy));
  flow.wait();
  EXPECT_EQ(y, 42);
  for (auto& thread : threads) thread.join();
  flow.submit(drop(hx));
  EXPECT_THROW(flow.wait(), TaskError);
}

// Two accesses to one datum in one task are merged; otherwise the task would wait for itself.
TEST(Flow, MergesDuplicateAccesses) {
  Runtime runtime(settings(1));
  int x = 3;
  const auto hx = runtime.value("x", x);
  const auto square = codelet("square").cpu([](In<int> a, InOut<int> b) { *b = *a * *b; });
  Flow flow(runtime);
  flow.submit(square(hx, hx));
  flow.wait();
  EXPECT_EQ(x, 9);
}

// The default policy is lws while all data fit. From the first registration that does not fit, it is chosen
// by simulation.
TEST(Flow, TheDefaultPolicyDependsOnMemoryUse) {
  Config config;
  config.set("workers", 2);
  config.set("memory", "2MiB");
  Runtime runtime(config);
  EXPECT_EQ(runtime.statistics().scheduler, "lws");
  const auto small = runtime.tiled<double>("small", 256, 256, 128);  // 512 KiB
  EXPECT_EQ(runtime.statistics().scheduler, "lws");
  const auto large = runtime.tiled<double>("large", 1024, 1024, 128);  // 8 MiB
  EXPECT_EQ(runtime.statistics().scheduler, "what-if");
  const auto fill = codelet("fill").cpu([](Out<Tile<double>> t) { t(0, 0) = 1; });
  const auto add =
      codelet("add").cpu([](In<Tile<double>> from, InOut<Tile<double>> to) { to(0, 0) += from(0, 0); });
  double sum = 0;
  const auto total = runtime.value("total", sum);
  const auto take = codelet("take").cpu([](In<Tile<double>> t, InOut<double> s) { *s += t(0, 0); });
  Flow flow(runtime);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) flow.submit(fill(large(i, j)));
  for (int i = 1; i < 8; ++i)
    for (int j = 0; j < 8; ++j) flow.submit(add(large(i - 1, j), large(i, j)));
  for (int j = 0; j < 8; ++j) flow.submit(take(large(7, j), total));
  flow.wait();
  EXPECT_EQ(sum, 64);
  EXPECT_GT(runtime.statistics().nodes[0].evictions, 0u);
}

// A removed matrix, datum or user memory no longer counts.
TEST(Flow, TheDefaultPolicyIgnoresRemovedData) {
  Config config;
  config.set("workers", 2);
  config.set("memory", "2MiB");
  Runtime runtime(config);
  {
    const auto large = runtime.tiled<double>("large", 1024, 1024, 128);
    EXPECT_EQ(runtime.statistics().scheduler, "what-if");
  }
  std::vector<double> elements(std::size_t{1024} * 1024);
  for (int i = 0; i < 8; ++i) {
    runtime.remove(runtime.vector<double>("short lived", 1 << 17));  // 1 MiB
    runtime.tiled_in_place("placed", elements.data(), 1024, 1024, 1024, 128);
  }
  const auto small = runtime.tiled<double>("small", 256, 256, 128);
  EXPECT_EQ(runtime.statistics().scheduler, "lws");
}

TEST(Future, IsReadyWhenItsTaskFinishes) {
  for (const std::size_t workers : {1, 3}) {
    Config config;
    config.set("workers", workers);
    config.set("memory", "1MiB");
    config.set("bind-threads", false);
    Runtime runtime(config);
    int first = 0, second = 0;
    const auto a = runtime.value("a", first), b = runtime.value("b", second);
    const auto add = codelet("add").cpu([](InOut<int> x, int by) { *x += by; });
    const auto fail = codelet("fail").cpu([](InOut<int>) { throw std::runtime_error("on purpose"); });
    Flow flow(runtime);
    for (int i = 0; i < 100; ++i) flow.submit(add(a, 1));
    const Future sum = flow.future(add(a, 1));
    sum.wait();
    EXPECT_TRUE(sum.done());
    EXPECT_EQ(first, 101);
    sum.wait();  // again, at once
    const Future failed = flow.future(fail(b)), skipped = flow.future(add(b, 1));
    try {
      failed.wait();
      ADD_FAILURE() << "no exception";
    } catch (const TaskError& error) {
      EXPECT_NE(std::string(error.what()).find("fail(b)"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("on purpose"), std::string::npos) << error.what();
    }
    EXPECT_THROW(skipped.wait(), TaskError);
    EXPECT_THROW(flow.wait(), TaskError);
  }
}

TEST(Future, MayOutliveItsFlow) {
  Config config;
  config.set("workers", 2);
  config.set("memory", "1MiB");
  Runtime runtime(config);
  int value = 0;
  const auto a = runtime.value("a", value);
  const auto add = codelet("add").cpu([](InOut<int> x) { ++*x; });
  const Future future = [&] {
    Flow flow(runtime);
    return flow.future(add(a));
  }();
  EXPECT_TRUE(future.done());
  future.wait();
  EXPECT_EQ(value, 1);
}

}  // namespace fairlead
