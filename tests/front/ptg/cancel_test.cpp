// Cancelling a parameterized graph before or during its run ends the run with an error; done() counts the
// finished tasks.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

#include "sanitized.hpp"

namespace fairlead {
namespace {

class CancelledPtg : public testing::TestWithParam<const char*> {
 protected:
  static Config config() {
    Config config;
    config.set("workers", 2);
    config.set("memory", "1MiB");
    config.set("scheduler", std::string(GetParam()));
    config.set("bind-threads", false);
    return config;
  }
  static constexpr std::uint64_t count = tests::thread_sanitized ? 5'000 : 20'000;
  std::atomic<std::uint64_t> ran{0};
  std::uint64_t number = 0;
  Runtime runtime{config()};
  const Handle<std::uint64_t> datum = runtime.value("number", number);
  ptg::Graph graph{runtime};
  const Codelet<InOut<std::uint64_t>> add = codelet("add").cpu([this](InOut<std::uint64_t> own) {
    *own += 1;
    ++ran;
  });
  void make_chain(std::uint64_t length = count) {
    const ptg::Index i("i");
    const auto data = graph.data(datum, "number");
    auto link = graph.task("link", i.in(0, static_cast<std::int64_t>(length) - 1));
    link.runs(add, ptg::flow("own").from(data()).when(i == 0).from(link["own"](i - 1)));
  }
};

TEST_P(CancelledPtg, RunsNothingIfCancelledBeforeRun) {
  make_chain();
  graph.cancel();
  EXPECT_THROW(graph.run(), TaskError);
  EXPECT_EQ(ran, 0u);
  EXPECT_EQ(number, 0u);
}

TEST_P(CancelledPtg, EndsDuringTheRun) {
  make_chain();
  std::thread other([this] {
    while (ran == 0) std::this_thread::yield();
    graph.cancel();
  });
  try {
    graph.run();
    EXPECT_EQ(number, count);  // it was faster
  } catch (const TaskError&) {
    EXPECT_LT(number, count);
  }
  other.join();
  EXPECT_EQ(number, ran);
  EXPECT_EQ(graph.done(), count) << "tasks that did not run count, too";
}

// Visiting so many tasks would take minutes.
TEST_P(CancelledPtg, EndsSoonWithManyTasksLeft) {
  constexpr std::uint64_t many = 1'000'000'000;
  make_chain(many);
  std::thread other([this] {
    while (ran == 0) std::this_thread::yield();
    graph.abandon();
  });
  EXPECT_THROW(graph.run(), TaskError);
  other.join();
  EXPECT_GT(ran, 0u);
  EXPECT_EQ(number, ran);
  EXPECT_EQ(graph.done(), many);
  // Other graphs and flows continue.
  Flow flow(runtime);
  std::uint64_t own = 1;
  const auto datum = runtime.value("own", own);
  flow.submit(codelet("double").cpu([](InOut<std::uint64_t> x) { *x *= 2; })(datum));
  flow.wait();
  runtime.flush();
  EXPECT_EQ(own, 2u);
}

TEST_P(CancelledPtg, EndsAtTheFirstFailure) {
  constexpr std::int64_t many = 1'000'000'000;
  const ptg::Index i("i"), j("j");
  const auto data = graph.data(datum, "number");
  const auto fail = codelet("fail").cpu([](InOut<std::uint64_t> own, std::int64_t at) {
    if (at == 7) throw std::runtime_error("no more");
    ++*own;
  });
  auto link = graph.task("link", i.in(0, many - 1));
  link.runs(fail, ptg::flow("own").from(data()).when(i == 0).from(link["own"](i - 1)), i);
  graph.abandon_on_failure();
  try {
    graph.run();
    FAIL() << "no error";
  } catch (const TaskError& error) {
    EXPECT_NE(std::string(error.what()).find("no more"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("999999992 tasks"), std::string::npos) << error.what();
  }
  EXPECT_EQ(number, 7u);
}

TEST_P(CancelledPtg, EndsWithIndependentTasksLeft) {
  const ptg::Index i("i");
  auto one = graph.task("one", i.in(0, 1'999'999'999));
  one.runs(codelet("alone").cpu([this](std::int64_t) { ++ran; }), i);
  std::thread other([this] {
    while (ran == 0) std::this_thread::yield();
    graph.abandon();
  });
  EXPECT_THROW(graph.run(), TaskError);
  other.join();
}

TEST_P(CancelledPtg, ReportsItsProgressToAnyThread) {
  EXPECT_EQ(graph.done(), 0u);
  make_chain();
  std::uint64_t seen = 0;
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) {
      const std::uint64_t now = graph.done();
      EXPECT_GE(now, seen);
      seen = now;
    }
  });
  graph.run();
  EXPECT_EQ(graph.done(), count);
  graph.run();
  EXPECT_EQ(graph.done(), 2 * count);
  over = true;
  other.join();
  EXPECT_LE(seen, 2 * count);
}

INSTANTIATE_TEST_SUITE_P(Policies, CancelledPtg, testing::Values("lws", "darts", "eager"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace fairlead
