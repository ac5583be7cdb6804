// Data acquired by the program, with real threads: order, values, memory, callbacks, and every way to end a
// hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace fairlead {
namespace {

using testing::HasSubstr;

Config few(std::size_t workers, const char* memory = "16MiB") {
  Config config;
  config.set("workers", workers);
  config.set("memory", memory);
  return config;
}
const auto add = codelet("add").cpu([](InOut<int> x, int more) { *x += more; });
const auto set_tile = codelet("set").cpu([](Out<Tile<double>> t, double value) {
  for (int j = 0; j < t.columns(); ++j)
    for (int i = 0; i < t.rows(); ++i) t(i, j) = value;
});
const auto grow_tile = codelet("grow").cpu([](InOut<Tile<double>> t) {
  for (int j = 0; j < t.columns(); ++j)
    for (int i = 0; i < t.rows(); ++i) t(i, j) += 1;
});

class Acquire : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, Acquire, testing::Values(1, 2, 4),
                         [](const auto& workers) { return std::to_string(workers.param); });

// Earlier tasks finish before the hold is granted; later tasks run with its values.
TEST_P(Acquire, FollowsTheProgramsOrder) {
  Runtime runtime(few(GetParam()));
  int x = 0;
  const auto hx = runtime.value("x", x);
  Flow flow(runtime);
  for (int round = 1; round <= 200; ++round) {
    for (int i = 0; i < 5; ++i) flow.submit(add(hx, 1));
    auto hold = flow.acquire(update(hx));
    ASSERT_EQ(*hold, 15 * round - 10);
    flow.submit(add(hx, 3));  // waits for the release
    *hold += 2;
    hold.release();
    flow.submit(add(hx, 5));
  }
  flow.wait();
  EXPECT_EQ(x, 200 * 15);
}

TEST_P(Acquire, OtherReadersRunDuringAReadAcquire) {
  Runtime runtime(few(GetParam()));
  int x = 7, sum = 0;
  const auto hx = runtime.value("x", x), hs = runtime.value("sum", sum);
  const auto look = codelet("look").cpu([](In<int> from, InOut<int> to) { *to += *from; });
  Flow flow(runtime);
  const auto hold = flow.acquire(read(hx));
  for (int i = 0; i < 100; ++i) flow.submit(look(hx, hs));
  flow.wait();  // none of them needs the release
  EXPECT_EQ(sum, 700);
  EXPECT_EQ(*hold.get<0>(), 7);
}

TEST_P(Acquire, TilesAreLoadedFromAndWrittenToTheDisk) {
  Runtime runtime(few(GetParam(), "1MiB"));
  const auto a = runtime.tiled<double>("A", 128 * 32, 128, 128);  // 32 tiles of 128 KiB, eight fit
  Flow flow(runtime);
  for (int i = 0; i < 32; ++i) flow.submit(set_tile(a(i, 0), i));
  for (int i = 0; i < 32; ++i) {
    auto hold = flow.acquire(update(a(i, 0)), read(a((i + 7) % 32, 0)));
    const auto tile = hold.get<0>();
    ASSERT_EQ(tile(5, 6), i);
    ASSERT_EQ(hold.get<1>()(127, 127), (i + 7) % 32 + (i + 7 >= 32 ? 100 : 0));
    tile(5, 6) = tile(127, 127) = i + 100;
  }
  for (int i = 0; i < 32; ++i) flow.submit(grow_tile(a(i, 0)));
  flow.wait();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(flow.acquire(read(a(i, 0))).get<0>()(5, 6), i + 101);
  EXPECT_GT(runtime.disk_traffic().read, 0u);
}

TEST(AcquireInPlace, ReturnsTheUsersOwnMemory) {
  Runtime runtime(few(2));
  std::vector<double> memory(100 * 50);
  const auto a = runtime.tiled_in_place<double>("A", memory.data(), 100, 50, 100, 32);
  Flow flow(runtime);
  const auto hold = flow.acquire(write(a(1, 1)));
  EXPECT_EQ(hold.get<0>().data(), &memory[32 + 32 * 100]);
  EXPECT_EQ(hold.get<0>().leading_dimension(), 100);
}

// The program may write a value without a task before it.
TEST(AcquireForWriting, CreatesTheFirstValue) {
  Runtime runtime(few(2));
  const auto a = runtime.tiled<double>("A", 64, 64, 64);
  Flow flow(runtime);
  {
    const auto hold = flow.acquire(write(a(0, 0)));
    for (int j = 0; j < 64; ++j)
      for (int i = 0; i < 64; ++i) hold.get<0>()(i, j) = 4;
  }
  flow.submit(grow_tile(a(0, 0)));
  EXPECT_EQ(flow.acquire(read(a(0, 0))).get<0>()(63, 63), 5);
}

TEST(AcquireTwiceTheSame, IsOneAccess) {
  Runtime runtime(few(1));
  int x = 3;
  const auto hx = runtime.value("x", x);
  Flow flow(runtime);
  const auto hold = flow.acquire(read(hx), update(hx));
  *hold.get<1>() = 9;
  EXPECT_EQ(*hold.get<0>(), 9);
}

// ---- without waiting

TEST_P(Acquire, TheCallbackRunsWhenTheDataAreAvailable) {
  Runtime runtime(few(GetParam()));
  int x = 0;
  std::atomic<int> seen = 0, calls = 0;
  const auto hx = runtime.value("x", x);
  Flow flow(runtime);
  for (int i = 0; i < 300; ++i) {
    flow.submit(add(hx, 1));
    flow.acquire_then(
        [&, i](const Hold<InOut<int>>& hold) {
          seen += *hold == 2 * i + 1;
          ++calls;
          *hold += 1;
        },
        update(hx));
  }
  flow.wait();  // also for the callbacks
  EXPECT_EQ(calls, 300);
  EXPECT_EQ(seen, 300);
  EXPECT_EQ(x, 600);
}

// Another thread of the program receives the data and releases them.
TEST_P(Acquire, AHoldMayMoveToAnotherThread) {
  Runtime runtime(few(GetParam()));
  int x = 0;
  const auto hx = runtime.value("x", x);
  Flow flow(runtime);
  for (int i = 0; i < 50; ++i) {
    std::promise<Hold<InOut<int>>> promise;
    std::thread other([result = promise.get_future()]() mutable { *result.get() += 1; });
    flow.submit(add(hx, 1));
    flow.acquire_then([&](Hold<InOut<int>> hold) { promise.set_value(std::move(hold)); }, update(hx));
    flow.submit(add(hx, 1));
    flow.wait();  // for the other thread, too
    EXPECT_EQ(x, 3 * (i + 1));
    other.join();
  }
}

TEST(AcquireThen, ReportsUnavailableDataToTheCallback) {
  Runtime runtime(few(2));
  int x = 0;
  const auto hx = runtime.value("x", x);
  const auto fail = codelet("fail").cpu([](Out<int>) { throw std::runtime_error("no"); });
  Flow flow(runtime);
  flow.submit(fail(hx));
  std::string text;
  flow.acquire_then(
      [&](const Hold<In<int>>& hold) {
        EXPECT_FALSE(hold);
        try {
          hold.get<0>();
        } catch (const TaskError& error) {
          text = error.what();
        }
      },
      read(hx));
  EXPECT_THROW(flow.wait(), TaskError);
  EXPECT_THAT(text, HasSubstr("acquire(x)"));
}

TEST(AcquireThen, WaitRethrowsTheExceptionOfACallbackAndTheHoldIsReleased) {
  Runtime runtime(few(2));
  int x = 0;
  const auto hx = runtime.value("x", x);
  Flow flow(runtime);
  flow.acquire_then([](const Hold<InOut<int>>&) { throw std::runtime_error("the cat"); }, update(hx));
  flow.submit(add(hx, 1));
  try {
    flow.wait();
    FAIL();
  } catch (const TaskError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("the cat"), HasSubstr("acquire_test.cpp:")));
  }
  EXPECT_EQ(x, 1);
}

// ---- ends

TEST(AcquiredData, AreUnavailableAfterAFailureUntilWritten) {
  Runtime runtime(few(2));
  int x = 0;
  const auto hx = runtime.value("x", x);
  const auto fail = codelet("fail").cpu([](Out<int>) { throw std::runtime_error("no"); });
  Flow flow(runtime);
  flow.submit(fail(hx));
  EXPECT_THROW(static_cast<void>(flow.acquire(update(hx))), TaskError);
  EXPECT_THROW(flow.wait(), TaskError);
  *flow.acquire(write(hx)) = 5;  // a pure write makes them good
  flow.submit(add(hx, 1));
  flow.wait();
  EXPECT_EQ(x, 6);
}

TEST(AHold, MayOutliveItsFlowAndItsRuntime) {
  Hold<InOut<Tile<double>>> kept;
  {
    Runtime runtime(few(2));
    const auto a = runtime.tiled<double>("A", 64, 64, 64);
    {
      Flow flow(runtime);
      flow.submit(set_tile(a(0, 0), 3));
      kept = flow.acquire(update(a(0, 0)));
    }
    Flow another(runtime);
    another.wait();
  }
  kept.get<0>()(1, 1) += 1;
  EXPECT_EQ(kept.get<0>()(1, 1), 4);
  kept.release();
  EXPECT_FALSE(kept);
}

// The task waits for the hold, so the destruction of flow and runtime must not wait for the task.
TEST(AHold, DoesNotBlockTheDestructionOfFlowAndRuntime) {
  int x = 0;
  Hold<InOut<int>> kept;
  {
    Runtime runtime(few(2));
    const auto hx = runtime.value("x", x);
    Flow flow(runtime);
    kept = flow.acquire(update(hx));
    flow.submit(add(hx, 1));
  }
  *kept = 8;
  kept.release();
  EXPECT_EQ(x, 8);
}

TEST(AHold, ReleasedAfterItsFlowIsDestroyedLetsTheTaskRun) {
  Runtime runtime(few(2));
  int x = 0;
  const auto hx = runtime.value("x", x);
  Hold<InOut<int>> kept;
  {
    Flow flow(runtime);
    kept = flow.acquire(update(hx));
    flow.submit(add(hx, 1));
  }
  kept.release();
  Flow flow(runtime);
  flow.submit(add(hx, 1));
  flow.wait();
  EXPECT_EQ(x, 2);
}

TEST(AMatrix, MayBeDestroyedWhileATileIsHeld) {
  Runtime runtime(few(2));
  Flow flow(runtime);
  Hold<InOut<Tile<double>>> hold;
  {
    const auto a = runtime.tiled<double>("A", 64, 64, 32);
    flow.submit(set_tile(a(0, 0), 3));
    hold = flow.acquire(update(a(0, 0)));
  }
  EXPECT_EQ(hold.get<0>()(31, 31), 3);
}

// Pending acquires, cancelled before they are granted.
TEST(Cancelling, AFlowCancelsItsPendingAcquires) {
  Runtime runtime(few(2));
  int x = 0;
  const auto hx = runtime.value("x", x);
  std::atomic<bool> go = false, refused = false;
  const auto wait = codelet("wait").cpu([&](InOut<int>) { go.wait(false); });
  Flow flow(runtime);
  flow.submit(wait(hx));
  flow.acquire_then([&](const Hold<InOut<int>>& hold) { refused = !hold; }, update(hx));
  flow.cancel();
  go = true;
  go.notify_all();
  try {
    flow.wait();
  } catch (const TaskError&) {  // if the task was cancelled, too
  }
  EXPECT_TRUE(refused);
}

// Holding more at once than memory allows is refused; one after the other is accepted.
TEST(Memory, RemainsAvailableForTheLargestTask) {
  Runtime runtime(few(2, "1MiB"));
  const auto a = runtime.tiled<double>("A", 128 * 16, 128, 128);  // eight tiles fit
  const auto three =
      codelet("three").cpu([](In<Tile<double>>, In<Tile<double>>, InOut<Tile<double>> t) { t(0, 0) += 1; });
  Flow flow(runtime);
  for (int i = 0; i < 16; ++i) flow.submit(set_tile(a(i, 0), i));
  flow.wait();
  const auto five =
      flow.acquire(update(a(0, 0)), update(a(1, 0)), update(a(2, 0)), read(a(3, 0)), read(a(4, 0)));
  for (int i = 5; i < 14; ++i) flow.submit(three(a(i, 0), a(i + 1, 0), a(i + 2, 0)));
  EXPECT_THROW(static_cast<void>(flow.acquire(read(a(5, 0)))), FootprintError);  // 5 + 1 + 3 of 8
  flow.wait();
  const auto sixth = flow.acquire(read(a(5, 0)));  // they are over
  EXPECT_EQ(sixth.get<0>()(9, 9), 5);
  EXPECT_THROW(flow.submit(three(a(6, 0), a(7, 0), a(8, 0))), FootprintError);
  flow.submit(grow_tile(a(6, 0)));
  flow.wait();
}

TEST(Flush, WritesBackDataHeldForReading) {
  Runtime runtime(few(2));
  const auto a = runtime.tiled<double>("A", 64, 64, 32);
  Flow flow(runtime);
  flow.submit(set_tile(a(0, 0), 3));
  const auto hold = flow.acquire(read(a(0, 0)));
  runtime.flush();
  EXPECT_GE(runtime.disk_traffic().written, 8192u);
}

}  // namespace
}  // namespace fairlead
