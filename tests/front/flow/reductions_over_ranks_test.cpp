// Reductions of data that other ranks write as well: a partial result belongs to one value of its datum, and is never folded
// into a later one that replaces it.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/ptg.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "meeting.hpp"
#include "on_ranks.hpp"

namespace fairlead::reductions_over_ranks {
namespace {

using Element = Tile<double>;
constexpr std::int32_t side = 24;

/// Two worker threads in addition to the program's thread, so that two tasks can run at the same time.
void on_two_ranks(const std::function<void(Runtime&)>& rank) {
  const auto config_of = [](std::uint32_t) {
    Config config;
    config.set("workers", 3);
    config.set("memory", Bytes{1} << 20);
    config.set("bind-threads", false);
    return config;
  };
  for (const std::string& text : tests::on_ranks(2, config_of, rank)) EXPECT_EQ(text, "");
}

/// Tile i belongs to rank i.
TiledMatrix<double> two_tiles(Runtime& runtime) {
  return runtime.tiled<double>(
      "A", side, std::int64_t{side} * 2, side,
      Distribution([](std::int32_t, std::int32_t column) { return static_cast<std::uint32_t>(column); }));
}

template <class T, class Change>
void each(T& tile, const Change& change) {
  for (std::int32_t i = 0; i < tile.rows(); ++i)
    for (std::int32_t j = 0; j < tile.columns(); ++j) tile(i, j) = change(tile(i, j));
}

const auto set =
    codelet("set").cpu([](Out<Element> t, double value) { each(t, [=](double) { return value; }); });
const auto change =
    codelet("change").cpu([](InOut<Element> t, double by) { each(t, [=](double old) { return old + by; }); });
const auto add_one_at_a_time = codelet("add in any order").cpu([](Commute<Element> t, double by) {
  each(t, [=](double old) { return old + by; });
});

/// -1 if the elements differ.
double value_of(Flow& flow, const Handle<Element>& handle) {
  const auto hold = flow.acquire(read(handle));
  const auto& tile = hold.get<0>();
  for (std::int32_t i = 0; i < tile.rows(); ++i)
    for (std::int32_t j = 0; j < tile.columns(); ++j)
      if (tile(i, j) != tile(0, 0)) return -1;
  return tile(0, 0);
}

/// Pairs of tasks that add at the same time, the second of each pair to a partial result.
class Pairs {
 public:
  void submit(Flow& flow, const Handle<Element>& to, double by, int pairs = 2, int on_rank = -1) {
    for (int i = 0; i < 2 * pairs; ++i)
      on_rank < 0 ? flow.submit(add_(to, by))
                  : flow.submit(add_(to, by).on_rank(static_cast<std::uint32_t>(on_rank)));
  }

 private:
  tests::Meeting meeting_;
  const Codelet<Reduce<Element>, double> add_ = codelet("add").cpu([this](Reduce<Element> t, double by) {
    meeting_.come();
    each(t, [=](double old) { return old + by; });
  });
};

TEST(ReductionsOverRanks, DoNotChangeAValueWrittenOnAnotherRank) {
  on_two_ranks([](Runtime& runtime) {
    auto a = two_tiles(runtime);
    Pairs pairs;
    Flow flow(runtime);
    double seen = 0;
    const auto s = runtime.value("seen", seen);
    const auto look = codelet("look").cpu([](In<Element> t, InOut<double> at) { *at = t(1, 2); });
    for (int round = 0; round < 5; ++round) {
      flow.submit(set(a(0, 0), 1.0));
      pairs.submit(flow, a(0, 0), 100);
      flow.submit(set(a(0, 0), 7.0).on_rank(1));
      flow.submit(change(a(0, 0), 0.5));
      flow.submit(look(a(0, 0), s));
      flow.wait();
      EXPECT_EQ(seen, 7.5);
      if (runtime.rank() == 0) {
        EXPECT_EQ(value_of(flow, a(0, 0)), 7.5);
      }
    }
  });
}

TEST(ReductionsOverRanks, ContinueWithTheReplacement) {
  on_two_ranks([](Runtime& runtime) {
    auto a = two_tiles(runtime);
    Pairs pairs;
    Flow flow(runtime);
    flow.submit(set(a(0, 0), 1.0));
    pairs.submit(flow, a(0, 0), 100);
    flow.submit(set(a(0, 0), 7.0).on_rank(1));
    pairs.submit(flow, a(0, 0), 10);
    flow.submit(add_one_at_a_time(a(0, 0), 0.5));
    flow.submit(add_one_at_a_time(a(0, 0), 0.25));
    flow.wait();
    if (runtime.rank() == 0) {
      EXPECT_EQ(value_of(flow, a(0, 0)), 47.75);
    }
  });
}

// The wait of a flow without reductions writes the value back.
TEST(ReductionsOverRanks, OfAnotherFlowDoNotChangeAValueThatIsWrittenBack) {
  on_two_ranks([](Runtime& runtime) {
    auto a = two_tiles(runtime);
    Pairs pairs;
    Flow first(runtime), second(runtime);
    first.submit(set(a(0, 0), 1.0));
    pairs.submit(first, a(0, 0), 100);
    second.submit(set(a(0, 0), 7.0).on_rank(1));
    second.wait();
    if (runtime.rank() == 0) {
      EXPECT_EQ(value_of(second, a(0, 0)), 7);
    }
    first.wait();
    if (runtime.rank() == 0) {
      EXPECT_EQ(value_of(first, a(0, 0)), 7);
    }
  });
}

// The adding rank is not the owner: its copy of the value is freed, and the memory later holds another datum.
TEST(ReductionsOverRanks, DoNotChangeOtherDataOfANonOwner) {
  on_two_ranks([](Runtime& runtime) {
    auto a = two_tiles(runtime);
    Pairs pairs;
    Flow flow(runtime);
    for (int round = 0; round < 5; ++round) {
      flow.submit(set(a(0, 0), 1.0));
      flow.submit(set(a(0, 1), 3.0));
      pairs.submit(flow, a(0, 0), 100, 2, 1);
      flow.submit(set(a(0, 0), 7.0));
      pairs.submit(flow, a(0, 1), 20, 1, 0);
      flow.submit(change(a(0, 0), 0.5).on_rank(1));
      flow.submit(change(a(0, 1), 0.5).on_rank(0));
      flow.wait();
      EXPECT_EQ(value_of(flow, a(0, static_cast<std::int32_t>(runtime.rank()))),
                runtime.rank() == 0 ? 7.5 : 43.5);
    }
  });
}

// The value is folded before it is sent, although its flow ended in a thread that cannot fold.
TEST(ReductionsOverRanks, AreFoldedBeforeSendingIfAnotherThreadEndedTheFlow) {
  std::atomic<double> seen{0};
  on_two_ranks([&](Runtime& runtime) {
    auto a = two_tiles(runtime);
    Pairs pairs;
    const auto look = codelet("look").cpu([&](In<Element> t) { seen = t(1, 2); });
    auto gone = std::make_unique<Flow>(runtime);
    gone->submit(set(a(0, 0), 1.0));
    pairs.submit(*gone, a(0, 0), 100);
    std::thread([&] { gone.reset(); }).join();
    Flow flow(runtime);
    flow.submit(look(a(0, 0)).on_rank(1));
    flow.wait();
  });
  EXPECT_EQ(seen, 401);
}

TEST(ReductionsOverRanks, DoNotChangeAValueThatAGraphReads) {
  on_two_ranks([](Runtime& runtime) {
    auto a = two_tiles(runtime);
    Pairs pairs;
    std::atomic<int> right{0};
    const auto look = codelet("look").cpu([&](In<Element> t) { right += t(1, 2) == 7; });
    ptg::Graph graph(runtime);
    const auto A = graph.data(a);
    graph.task("look").runs(look, ptg::flow("t").from(A(0, 0))).at(A(0, 0));
    Flow flow(runtime);
    flow.submit(set(a(0, 0), 1.0));
    pairs.submit(flow, a(0, 0), 100);
    flow.submit(set(a(0, 0), 7.0).on_rank(1));
    graph.run();
    EXPECT_EQ(right, runtime.rank() == 0 ? 1 : 0);
    flow.wait();
    if (runtime.rank() == 0) {
      EXPECT_EQ(value_of(flow, a(0, 0)), 7);
    }
  });
}

}  // namespace
}  // namespace fairlead::reductions_over_ranks
