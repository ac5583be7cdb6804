// Reductions: tasks that add to one datum at the same time, to partial results that are folded before any
// other access.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <complex>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"
#include "meeting.hpp"

namespace fairlead {
namespace {

Config machine(std::size_t workers, const char* memory = "4MiB") {
  Config config;
  config.set("workers", workers);
  config.set("memory", memory);
  config.set("bind-threads", false);
  return config;
}

using tests::Meeting;

TEST(Reductions, RunAtTheSameTimeOnOneDatum) {
  Runtime runtime(machine(2));
  long sum = 100;
  const auto s = runtime.value("sum", sum);
  Meeting meeting;
  const auto add = codelet("add").cpu([&](Reduce<long> into, long amount) {
    EXPECT_TRUE(meeting.come());
    *into += amount;
  });
  Flow flow(runtime);
  flow.submit(add(s, 1));
  flow.submit(add(s, 10));
  flow.wait();
  EXPECT_EQ(sum, 111);
}

// After the end of the datum, or a wait for the adding tasks, the sum is complete.
class ReductionsThatEnd : public testing::Test {
 protected:
  long sum = 100;
  std::unique_ptr<Runtime> runtime = std::make_unique<Runtime>(machine(2));
  const Handle<long> s = runtime->value("sum", sum);
  Meeting meeting;
  const Codelet<Reduce<long>, long> add = codelet("add").cpu([this](Reduce<long> into, long amount) {
    meeting.come();
    *into += amount;
  });
};
TEST_F(ReductionsThatEnd, AreFoldedWhenTheirDatumIsDestroyed) {
  Flow flow(*runtime);
  flow.submit(add(s, 1));
  flow.submit(add(s, 10));
  runtime->remove(s);
  EXPECT_EQ(sum, 111);
  flow.wait();
}
TEST_F(ReductionsThatEnd, AreFoldedWhenTheRuntimeIsDestroyed) {
  Flow flow(*runtime);
  flow.submit(add(s, 1));
  flow.submit(add(s, 10));
  runtime.reset();
  EXPECT_EQ(sum, 111);
}
TEST_F(ReductionsThatEnd, AreFoldedWhenOneOfTheirFlowsWaits) {
  Flow first(*runtime), second(*runtime);
  first.submit(add(s, 1));
  second.submit(add(s, 10));
  second.wait();
  EXPECT_EQ(sum, 111);
  second.submit(add(s, 1000));
  first.submit(add(s, 10'000));
  second.wait();
  EXPECT_EQ(sum, 11'111);
}
TEST_F(ReductionsThatEnd, AreFoldedWithTheRuntimeIfAnotherThreadEndedTheFlow) {
  auto gone = std::make_unique<Flow>(*runtime);
  gone->submit(add(s, 1));
  gone->submit(add(s, 10));
  std::thread([&] { gone.reset(); }).join();
  runtime.reset();
  EXPECT_EQ(sum, 111);
}
TEST_F(ReductionsThatEnd, AreFoldedForAnAcquireAfterAnotherThreadEndedTheFlow) {
  auto gone = std::make_unique<Flow>(*runtime);
  gone->submit(add(s, 1));
  gone->submit(add(s, 10));
  std::thread([&] { gone.reset(); }).join();
  Flow flow(*runtime);
  EXPECT_EQ(*flow.acquire(read(s)).get<0>(), 111);
}

TEST(Reductions, AreFoldedBeforeAnyOtherAccess) {
  Runtime runtime(machine(3));
  long sum = 0, seen = 0;
  const auto s = runtime.value("sum", sum), r = runtime.value("seen", seen);
  const auto add = codelet("add").cpu([](Reduce<long> into, long amount) { *into += amount; });
  const auto look = codelet("look").cpu([](In<long> from, InOut<long> into) { *into = *into * 3 + *from; });
  const auto twice = codelet("twice").cpu([](InOut<long> it) { *it *= 2; });
  Flow flow(runtime);
  long expected = 0, expected_seen = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < round % 9; ++i, expected += round) flow.submit(add(s, round));
    if (round % 2 == 0) {
      flow.submit(look(s, r));
      expected_seen = (expected_seen * 3 + expected);
    } else if (round % 3 == 0) {
      flow.submit(twice(s));
      expected *= 2;
    } else if (round % 5 == 0) {
      const auto hold = flow.acquire(read(s));
      EXPECT_EQ(*hold.get<0>(), expected);
    } else {
      flow.wait();
      EXPECT_EQ(sum, expected);
    }
    expected_seen %= 1'000'000'007;
    flow.submit(codelet("mod").cpu([](InOut<long> it) { *it %= 1'000'000'007; })(r));
  }
  flow.wait();
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(seen, expected_seen);
}

/// An argument that throws when it is copied once `armed`.
struct Bomb {
  Bomb() = default;
  Bomb(const Bomb& other) : armed(other.armed) {
    if (armed) throw std::runtime_error("not copied");
  }
  bool armed = false;
};

// Nothing is folded before a pure write, and no partial result of the old value is added to the new one. A
// refused write replaces nothing.
TEST(Reductions, AreDiscardedWhenTheValueIsReplaced) {
  Runtime runtime(machine(3));
  long sum = 100;
  const auto s = runtime.value("sum", sum);
  Meeting meeting;
  const auto add = codelet("add").cpu([&](Reduce<long> into, long amount) {
    meeting.come();
    *into += amount;
  });
  const auto set = codelet("set").cpu([](Out<long> it, long value, const Bomb&) { *it = value; });
  Flow flow(runtime);
  for (int i = 0; i < 4; ++i) flow.submit(add(s, 1));
  Bomb bomb;
  bomb.armed = true;
  EXPECT_THROW(flow.submit(set(s, 7, bomb)), std::runtime_error);
  flow.wait();
  EXPECT_EQ(sum, 104);

  const std::uint64_t before = flow.submitted();
  for (int i = 0; i < 4; ++i) flow.submit(add(s, 1));
  flow.submit(set(s, 7, Bomb()));
  flow.wait();
  EXPECT_EQ(sum, 7);
  EXPECT_EQ(flow.submitted() - before, 5u);
  for (int i = 0; i < 4; ++i) flow.submit(add(s, 1));
  flow.submit(set(s, 7, Bomb()));
  for (int i = 0; i < 4; ++i) flow.submit(add(s, 10));
  flow.wait();
  EXPECT_EQ(sum, 47);
}

// The write fails: later tasks see neither its value nor earlier partial results.
TEST(Reductions, AreDiscardedByAFailedWrite) {
  Runtime runtime(machine(3));
  long sum = 100;
  const auto s = runtime.value("sum", sum);
  Meeting meeting;
  const auto add = codelet("add").cpu([&](Reduce<long> into, long amount) {
    meeting.come();
    *into += amount;
  });
  const auto set = codelet("set").cpu([](Out<long> it, long value) {
    if (value < 0) throw std::runtime_error("no such value");
    *it = value;
  });
  Flow flow(runtime);
  for (int i = 0; i < 4; ++i) flow.submit(add(s, 1));
  flow.submit(set(s, -1));
  EXPECT_THROW(flow.wait(), TaskError);
  flow.submit(set(s, 7));
  for (int i = 0; i < 4; ++i) flow.submit(add(s, 10));
  flow.wait();
  EXPECT_EQ(sum, 47);
}

// Partial results of a part are not added to a whole or part that a pure write has replaced since.
TEST(Reductions, OfPartsAreDiscardedWhenTheWholeIsReplaced) {
  Runtime runtime(machine(3));
  std::vector<long> values(20 * 10);
  const auto whole = runtime.matrix<long>("whole", values.data(), 20, 10, 20);
  Meeting meeting;
  const auto add = codelet("add").cpu([&](Reduce<Tile<long>> into, long amount) {
    meeting.come();
    for (int j = 0; j < into.columns(); ++j)
      for (int i = 0; i < into.rows(); ++i) into(i, j) += amount;
  });
  const auto set = codelet("set").cpu([](Out<Tile<long>> it, long value) {
    for (int j = 0; j < it.columns(); ++j)
      for (int i = 0; i < it.rows(); ++i) it(i, j) = value;
  });
  Flow flow(runtime);
  flow.submit(set(whole, 1));
  {
    const auto parts = runtime.split(whole, 20, 4);
    for (int i = 0; i < 4; ++i) flow.submit(add(parts(0, 1), 1));
    flow.submit(set(whole, 7));
    for (int i = 0; i < 4; ++i) flow.submit(add(whole, 10));
    flow.submit(set(parts(0, 0), 5));
    for (int i = 0; i < 4; ++i) flow.submit(add(parts(0, 2), 100));
    flow.submit(set(parts(0, 2), 9));
    for (int i = 0; i < 4; ++i) flow.submit(add(parts(0, 2), 10));
    flow.wait();
  }
  const auto hold = flow.acquire(read(whole));
  EXPECT_EQ(hold.get<0>()(19, 3), 5);
  EXPECT_EQ(hold.get<0>()(19, 4), 47);
  EXPECT_EQ(hold.get<0>()(19, 9), 49);
}

TEST(Reductions, OfTilesAddEachElement) {
  // Memory for four of six tiles: some partial results are evicted and loaded again.
  Runtime runtime(machine(3, "512KiB"));
  const auto t = runtime.tiled<double>("T", 6 * 100, 100, 100);
  const auto fill = codelet("fill").cpu([](Out<Tile<double>> tile, double value) {
    for (int j = 0; j < tile.columns(); ++j)
      for (int i = 0; i < tile.rows(); ++i) tile(i, j) = value;
  });
  const auto add = codelet("add").cpu([](In<Tile<double>> from, Reduce<Tile<double>> into) {
    for (int j = 0; j < into.columns(); ++j)
      for (int i = 0; i < into.rows(); ++i) into(i, j) += from(i, j) + i;
  });
  Flow flow(runtime);
  for (int k = 0; k < 6; ++k) flow.submit(fill(t(k, 0), k));
  for (int n = 0; n < 20; ++n)
    for (int k = 1; k < 6; ++k) flow.submit(add(t(k, 0), t(0, 0)));
  const auto hold = flow.acquire(read(t(0, 0)));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(hold.get<0>()(i, 7), 20 * (1 + 2 + 3 + 4 + 5) + 100 * i);
}

TEST(Reductions, OfFloatsAgreeWithAnyOrderUpToRounding) {
  Runtime runtime(machine(4));
  double sum = 0;
  const auto s = runtime.value("sum", sum);
  const auto add = codelet("add").cpu([](Reduce<double> into, double amount) { *into += amount; });
  Flow flow(runtime);
  double expected = 0;
  for (int i = 1; i <= 2000; ++i, expected += 1.0 / (i - 1)) flow.submit(add(s, 1.0 / i));
  flow.wait();
  EXPECT_NEAR(sum, expected, 1e-12);
}

struct Interval {
  double low, high;
};
/// The smallest interval that contains both.
struct Hull {
  static Interval identity() { return {1e300, -1e300}; }
  static void combine(Interval& into, const Interval& from) {
    into = {std::min(into.low, from.low), std::max(into.high, from.high)};
  }
};

TEST(Reductions, SupportAnyOperationOfAnyType) {
  Runtime runtime(machine(2));
  double largest = -5;
  std::complex<double> product = 2;
  Interval range{0, 1};
  const auto l = runtime.value("largest", largest);
  const auto p = runtime.value("product", product);
  const auto r = runtime.value("range", range);
  const auto note =
      codelet("note").cpu([](Reduce<double, Maximum> into, double x) { *into = std::max(*into, x); });
  const auto times = codelet("times").cpu([](Reduce<std::complex<double>, Product> into, double re,
                                             double im) { *into *= std::complex(re, im); });
  const auto cover = codelet("cover").cpu([](Reduce<Interval, Hull> into, double x) {
    Hull::combine(into, {x, x});
  });
  Flow flow(runtime);
  for (int i = 0; i < 100; ++i) {
    flow.submit(note(l, -40.0 + i % 37));
    if (i < 4) flow.submit(times(p, 0, 1));
    flow.submit(cover(r, i - 50));
  }
  flow.wait();
  EXPECT_EQ(largest, -4);
  EXPECT_EQ(product, 2.0);
  EXPECT_EQ(range.low, -50);
  EXPECT_EQ(range.high, 49);
}

// max(max(0 + 3, 5), ...) is not max(0, 5) + 3.
TEST(Reductions, OfDifferentOperationsKeepTheOrderOfTheProgram) {
  Runtime runtime(machine(3));
  long value = 0, expected = 0;
  const auto v = runtime.value("value", value);
  const auto add = codelet("add").cpu([](Reduce<long> into, long x) { *into += x; });
  const auto most =
      codelet("most").cpu([](Reduce<long, Maximum> into, long x) { *into = std::max(*into, x); });
  Flow flow(runtime);
  for (int round = 1; round <= 60; ++round) {
    for (int i = 0; i < round % 4; ++i, expected += round) flow.submit(add(v, round));
    for (int i = 0; i < round % 3; ++i) flow.submit(most(v, 40L * round));
    if (round % 3 != 0) expected = std::max(expected, 40L * round);
  }
  flow.wait();
  EXPECT_EQ(value, expected);
}

TEST(Reductions, OfOneDatumTwiceInATaskShareAPartialResult) {
  Runtime runtime(machine(2));
  long sum = 0;
  const auto s = runtime.value("sum", sum);
  Meeting meeting;
  const auto add = codelet("add").cpu([&](Reduce<long> first, Reduce<long> second) {
    meeting.come();
    *first += 1;
    *second += 10;
  });
  Flow flow(runtime);
  flow.submit(add(s, s));
  flow.submit(add(s, s));
  flow.wait();
  EXPECT_EQ(sum, 22);
}

TEST(Reductions, ThatFailMakeTheDatumUnavailable) {
  Runtime runtime(machine(2));
  long sum = 0, seen = -1;
  const auto s = runtime.value("sum", sum), r = runtime.value("seen", seen);
  Meeting meeting;
  const auto add = codelet("add").cpu([&](Reduce<long> into, long amount) {
    meeting.come();
    if (amount < 0) throw std::runtime_error("no such amount");
    *into += amount;
  });
  const auto look = codelet("look").cpu([](In<long> from, Out<long> into) { *into = *from; });
  const auto clear = codelet("clear").cpu([](Out<long> it) { *it = 0; });
  Flow flow(runtime);
  for (const long bad : {0, 1}) {  // one of them is on the partial result
    flow.submit(add(s, bad == 0 ? -1 : 1));
    flow.submit(add(s, bad == 1 ? -1 : 1));
    flow.submit(look(s, r));
    try {
      flow.wait();
      ADD_FAILURE() << "a failure was lost";
    } catch (const TaskError& error) {
      EXPECT_NE(std::string(error.what()).find("1 task that needed its results was not run"),
                std::string::npos)
          << error.what();
    }
    EXPECT_EQ(seen, -1);
    flow.submit(clear(s));
  }
  flow.submit(add(s, 5));
  flow.submit(add(s, 6));
  flow.wait();
  EXPECT_EQ(sum, 11);
}

TEST(Reductions, ThatAreCancelledLeaveNoPartialResults) {
  Runtime runtime(machine(2));
  long sum = 0;
  const auto s = runtime.value("sum", sum);
  const auto add = codelet("add").cpu([](Reduce<long> into, long amount) { *into += amount; });
  const auto clear = codelet("clear").cpu([](Out<long> it) { *it = 0; });
  for (int round = 0; round < 20; ++round) {
    {
      Flow flow(runtime);
      for (int i = 0; i < 100; ++i) flow.submit(add(s, 1));
      flow.cancel();
      try {
        flow.wait();
      } catch (const TaskError&) {
      }
    }
    Flow flow(runtime);
    flow.submit(clear(s));
    for (int i = 0; i < 10; ++i) flow.submit(add(s, 1));
    flow.wait();
    ASSERT_EQ(sum, 10);
  }
}

// All tasks have run; their sums are in two places.
TEST(Reductions, OfAFlowCancelledBeforeFoldingAreReportedMissing) {
  Runtime runtime(machine(3));  // one is this thread, which works only while it waits
  long sum = 0;
  const auto s = runtime.value("sum", sum);
  Meeting meeting;
  const auto add = codelet("add").cpu([&](Reduce<long> into, long amount) {
    meeting.come();
    *into += amount;
  });
  Flow flow(runtime);
  flow.submit(add(s, 1));
  flow.submit(add(s, 10));
  while (flow.done() != 2) std::this_thread::yield();
  flow.cancel();
  try {
    flow.wait();
    ADD_FAILURE() << "no error for the missing sum";
  } catch (const TaskError& error) {
    EXPECT_STREQ(error.what(),
                 "the flow was cancelled before the partial results of a reduction were put together: its "
                 "result is missing");
  }
  EXPECT_NE(sum, 11);
}

TEST(Reductions, OfAnotherFlowAreFoldedForTheFirstAccess) {
  Runtime runtime(machine(2));
  long sum = 0, seen = 0;
  const auto s = runtime.value("sum", sum), r = runtime.value("seen", seen);
  Meeting meeting;
  const auto add = codelet("add").cpu([&](Reduce<long> into, long amount) {
    meeting.come();
    *into += amount;
  });
  const auto look = codelet("look").cpu([](In<long> from, Out<long> into) { *into = *from; });
  Flow adders(runtime), lookers(runtime);
  adders.submit(add(s, 3));
  adders.submit(add(s, 4));
  lookers.submit(look(s, r));
  lookers.wait();
  EXPECT_EQ(seen, 7);
}

TEST(Reductions, OfAMatrixInPlaceAreFoldedWhenItsHandleIsDestroyed) {
  Runtime runtime(machine(2));
  std::vector<int> matrix(10 * 4, 1);
  Flow flow(runtime);
  {
    const auto tiles = runtime.tiled_in_place<int>("M", matrix.data(), 8, 4, 10, 4);
    const auto add = codelet("add").cpu([](Reduce<Tile<int>> into, int amount) { into(3, 2) += amount; });
    for (int i = 0; i < 30; ++i) flow.submit(add(tiles(1, 0), i));
  }
  EXPECT_EQ(matrix[2 * 10 + 7], 1 + 29 * 15);
}

TEST(Reductions, RunOnDevicesAndCoresTogether) {
  Config config = machine(2);
  config.set("devices", "emulated:memory=1MiB + emulated:memory=1MiB,copies=blocking");
  Runtime runtime(config);
  const auto t = runtime.tiled<std::int64_t>("T", 64, 64, 64);
  const auto fill = codelet("fill").cpu([](Out<Tile<std::int64_t>> tile) {
    for (int j = 0; j < tile.columns(); ++j)
      for (int i = 0; i < tile.rows(); ++i) tile(i, j) = 0;
  });
  const auto body = [](Reduce<Tile<std::int64_t>> into, std::int64_t amount) {
    for (int j = 0; j < into.columns(); ++j)
      for (int i = 0; i < into.rows(); ++i) into(i, j) += amount;
  };
  const auto add = codelet("add").cpu(body).emulated(), add_on_devices = codelet("add there").emulated(body);
  Flow flow(runtime);
  flow.submit(fill(t(0, 0)));
  std::int64_t expected = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 40; ++i, expected += i - 1)
      i % 3 == 0 ? flow.submit(add_on_devices(t(0, 0), i)) : flow.submit(add(t(0, 0), i));
    const auto hold = flow.acquire(read(t(0, 0)));
    for (int i = 0; i < 64; ++i) ASSERT_EQ(hold.get<0>()(i, 63 - i), expected);
  }
}

// 1e16 + 1 - 1e16 depends on the order.
TEST(Reductions, InFixedOrderGiveTheSameBitsInEveryRun) {
  double expected = 0;
  for (int i = 0; i < 3000; ++i) expected += (i % 3 == 0 ? 1e16 : i % 3 == 1 ? 1.0 / (i + 1) : -1e16);
  for (int run = 0; run < 5; ++run) {
    Config config = machine(3);
    config.set("fixed-order", true);
    Runtime runtime(config);
    double sum = 0, together = 0;
    const auto s = runtime.value("sum", sum), t = runtime.value("together", together);
    const auto add = codelet("add").cpu([](Reduce<double> into, Commute<double> also, double amount) {
      *into += amount;
      *also += amount;
    });
    Flow flow(runtime);
    for (int i = 0; i < 3000; ++i)
      flow.submit(add(s, t, i % 3 == 0 ? 1e16 : i % 3 == 1 ? 1.0 / (i + 1) : -1e16));
    flow.wait();
    ASSERT_EQ(sum, expected);
    ASSERT_EQ(together, expected);
  }
}

}  // namespace
// In errors, pages and explanations of stalls.
TEST(Reductions, PartialResultsHaveNames) {
  Runtime runtime(machine(2));
  long sum = 0;
  const auto s = runtime.value("sum", sum);
  const auto add = codelet("add").cpu([](Reduce<long> into) { *into += 1; });
  Flow flow(runtime);
  for (int i = 0; i < 10; ++i) flow.submit(add(s));
  flow.wait();
  const auto& names = front::core_of(runtime).names();
  EXPECT_EQ(names.text(DatumId{0}), "sum");
  EXPECT_EQ(names.text(DatumId{1}), "a partial result of sum");
}

}  // namespace fairlead
