// A parameterized graph that is cancelled, before it begins or half-way, ends and says so; and what of it is over.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

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
  static constexpr std::uint64_t count = 20'000;
  std::atomic<std::uint64_t> ran{0};
  std::uint64_t number = 0;
  Runtime runtime{config()};
  const Handle<std::uint64_t> datum = runtime.value("number", number);
  ptg::Graph graph{runtime};
  const Codelet<InOut<std::uint64_t>> add = codelet("add").cpu([this](InOut<std::uint64_t> own) {
    *own += 1;
    ++ran;
  });
  void make_chain() {
    const ptg::Index i("i");
    const auto data = graph.data(datum, "number");
    auto link = graph.task("link", i.in(0, static_cast<std::int64_t>(count) - 1));
    link.runs(add, ptg::flow("own").from(data()).when(i == 0).from(link["own"](i - 1)));
  }
};

TEST_P(CancelledPtg, RunsNothingIfThatWasBeforeItBegan) {
  make_chain();
  graph.cancel();
  EXPECT_THROW(graph.run(), TaskError);
  EXPECT_EQ(ran, 0u);
  EXPECT_EQ(number, 0u);
}

TEST_P(CancelledPtg, EndsHalfWay) {
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
  EXPECT_EQ(graph.done(), count) << "those that did not run are over as well";
}

TEST_P(CancelledPtg, TellsAnyThreadHowFarItIs) {
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
