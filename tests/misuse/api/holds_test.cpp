// Mistakes with holds: each error names the hold, and nothing hangs.
#include "misuse/api/refused.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::misuse {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Holds : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, Holds, testing::Values(1, 3),
                         [](const auto& workers) { return std::to_string(workers.param); });

TEST_P(Holds, WaitForATaskThatNeedsWhatTheThreadHolds) {
  Runtime runtime(settings(GetParam()));
  int x = 0, y = 0;
  const auto hx = runtime.value("x", x), hy = runtime.value("y", y);
  Flow flow(runtime);
  auto hold = flow.acquire(update(hx));
  flow.submit(increment(hy));
  flow.submit(increment(hx));
  EXPECT_THAT(refused<UsageError>([&] { flow.wait(); }),
              AllOf(HasSubstr("wait() would never return"), HasSubstr("this thread holds x (read-write)"),
                    HasSubstr("holds_test.cpp:"), HasSubstr("increment waits for x")));
  EXPECT_EQ(y, 1);  // all other tasks were run
  hold.release();
  flow.wait();
  EXPECT_EQ(x, 1);
  expect_works(runtime);
}

TEST_P(Holds, WaitForATaskThatNeedsItIndirectly) {
  Runtime runtime(settings(GetParam()));
  int x = 0, y = 0;
  const auto hx = runtime.value("x", x), hy = runtime.value("y", y);
  const auto copy = codelet("copy").cpu([](In<int> from, Out<int> to) { *to = *from; });
  Flow flow(runtime), other(runtime);
  std::optional hold = flow.acquire(update(hx));
  other.submit(copy(hx, hy));
  other.submit(increment(hy));
  EXPECT_THAT(refused<UsageError>([&] { other.wait(); }), HasSubstr("this thread holds x"));
  flow.wait();  // this flow has no tasks
  hold.reset();
  other.wait();
  EXPECT_EQ(y, 1);
}

TEST_P(Holds, AFutureOfATaskThatNeedsWhatTheThreadHolds) {
  Runtime runtime(settings(GetParam()));
  int x = 0;
  const auto hx = runtime.value("x", x);
  Flow flow(runtime);
  auto hold = flow.acquire(read(hx));
  const Future future = flow.future(increment(hx));
  EXPECT_THAT(refused<UsageError>([&] { future.wait(); }), HasSubstr("this thread holds x (read)"));
  hold.release();
  future.wait();
  EXPECT_EQ(x, 1);
}

/// A thread that holds x and is about to wait for a task that changes x. Another task, which can run, sets
/// `done`.
struct WaitsForItsOwn {
  explicit WaitsForItsOwn(const Config& config) : runtime(config) {
    flow.submit(increment(hx));
    flow.submit(codelet("signal").cpu([this](InOut<int>) {
      done = true;
      done.notify_all();
    })(hy));
  }
  /// Waits until the thread has run all other tasks, and a little longer.
  void let_it_wait() const {
    done.wait(false);
    while (runtime.status().find("the program holds x") == std::string::npos) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  }

  int x = 0, y = 0;
  std::atomic<bool> done = false;
  Runtime runtime;
  Handle<int> hx = runtime.value("x", x), hy = runtime.value("y", y);
  Flow flow{runtime};
  Hold<InOut<int>> hold = flow.acquire(update(hx));
};

class HoldsElsewhere : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Threads, HoldsElsewhere, testing::Values(false, true),
                         [](const auto& moved) { return moved.param ? "Moved" : "ByReference"; });

// Another thread may release the hold, which it has by value or by reference: then the wait ends.
TEST_P(HoldsElsewhere, AreWaitedFor) {
  for (const std::size_t workers : {1, 3}) {
    WaitsForItsOwn held(settings(workers));
    const auto release = [&held](Hold<InOut<int>>& hold) {
      held.let_it_wait();
      *hold = 5;
      hold.release();
    };
    std::thread other;
    if (GetParam())
      other = std::thread([&, hold = std::move(held.hold)]() mutable { release(hold); });
    else
      other = std::thread([&] { release(held.hold); });
    EXPECT_NO_THROW(held.flow.wait());
    EXPECT_EQ(held.x, 6);
    other.join();
    expect_works(held.runtime);
  }
}

// When the last other thread has ended, the wait is refused.
TEST(HoldsOfOthers, AreWaitedForOnlyWhileOtherThreadsExist) {
  Config config = settings(2);
  config.set("quiet-period", 1);
  WaitsForItsOwn held(config);
  held.runtime.on_quiet(nullptr);
  std::thread other([&] { held.let_it_wait(); });
  EXPECT_THAT(refused<UsageError>([&] { held.flow.wait(); }), HasSubstr("this thread holds x (read-write)"));
  other.join();
  held.hold.release();
  held.flow.wait();
  EXPECT_EQ(held.x, 1);
}

// The refused acquire is cancelled: it is not granted later.
TEST_P(Holds, AcquireWhatTheThreadHolds) {
  Runtime runtime(settings(GetParam()));
  int x = 0;
  const auto hx = runtime.value("x", x);
  Flow flow(runtime);
  auto hold = flow.acquire(update(hx));
  EXPECT_THAT(refused<UsageError>([&] { static_cast<void>(flow.acquire(read(hx))); }),
              AllOf(HasSubstr("acquire would never return"), HasSubstr("this thread holds x")));
  flow.submit(increment(hx));
  hold.release();
  flow.wait();
  EXPECT_EQ(x, 1);
  expect_works(runtime);
}

TEST_P(Holds, SubmitForEverBehindAHold) {
  Config config = settings(GetParam());
  config.set("window", 16);
  Runtime runtime(config);
  int x = 0;
  const auto hx = runtime.value("x", x);
  Flow flow(runtime);
  auto hold = flow.acquire(update(hx));
  int submitted = 0;
  const std::string text = refused<UsageError>([&] {
    for (; submitted < 1000; ++submitted) flow.submit(increment(hx));
  });
  EXPECT_THAT(text, AllOf(HasSubstr("submit"), HasSubstr("this thread holds x")));
  EXPECT_EQ(submitted, 16);
  hold.release();
  flow.submit(increment(hx));
  flow.wait();
  EXPECT_EQ(x, 17);
}

TEST_P(Holds, FlushDataHeldForWriting) {
  Runtime runtime(settings(GetParam()));
  const auto a = runtime.tiled<double>("A", 64, 64, 32);
  Flow flow(runtime);
  flow.submit(fill_tile(a(0, 0), 1.0));
  auto hold = flow.acquire(update(a(0, 0)));
  EXPECT_THAT(refused<UsageError>([&] { runtime.flush(); }),
              AllOf(HasSubstr("flush"), HasSubstr("A[0,0] (read-write)")));
  hold.release();
  runtime.flush();
}

TEST_P(Holds, HoldMoreThanFitsInMemory) {
  Runtime runtime(settings(GetParam(), "256KiB"));
  const auto a = runtime.tiled<double>("A", 64 * 10, 64, 64);  // ten tiles of 32 KiB, eight fit
  Flow flow(runtime);
  for (int i = 0; i < 10; ++i) flow.submit(fill_tile(a(i, 0), 1.0));
  flow.wait();
  std::vector<Hold<In<Tile<double>>>> holds;
  const std::string text = refused<FootprintError>([&] {
    for (int i = 0; i < 10; ++i) holds.push_back(flow.acquire(read(a(i, 0))));
  });
  EXPECT_EQ(holds.size(), 8u);
  EXPECT_THAT(text,
              AllOf(HasSubstr("acquire(A[8,0]) needs 32768 bytes"), HasSubstr("A[0,0] (read), acquired at"),
                    HasSubstr("\"RAM\""), HasSubstr("A[7,0]")));
  EXPECT_THAT(refused<FootprintError>([&] { flow.submit(scale_tile(a(9, 0), 2.0)); }),
              AllOf(HasSubstr("the task scale(A[9,0]) needs"), HasSubstr("are held"), HasSubstr("A[3,0]")));
  holds.clear();
  flow.submit(scale_tile(a(9, 0), 2.0));
  flow.wait();
  EXPECT_EQ(flow.acquire(read(a(9, 0))).get<0>()(3, 3), 2);
}

// The error's advice is sufficient, also if the program reserves a part of the limit.
TEST(HoldMistakes, TheAdvisedMemorySuffices) {
  constexpr Bytes reserved = 1 << 20;
  Config config = settings(1, "1280KiB");
  for (const bool enough : {false, true}) {
    Runtime runtime(config, reserved);
    const auto a = runtime.tiled<double>("A", 64 * 10, 64, 64);
    Flow flow(runtime);
    for (int i = 0; i < 9; ++i) flow.submit(fill_tile(a(i, 0), 1.0));
    flow.wait();
    std::vector<Hold<In<Tile<double>>>> holds;
    for (int i = 0; i < 8; ++i) holds.push_back(flow.acquire(read(a(i, 0))));
    if (enough) {
      holds.push_back(flow.acquire(read(a(8, 0))));
    } else {
      config.set(
          "memory",
          advised_in(refused<FootprintError>([&] { static_cast<void>(flow.acquire(read(a(8, 0)))); })));
    }
  }
}

TEST(AcquireMistakes, UnwrittenData) {
  Runtime runtime(settings());
  const auto a = runtime.tiled<double>("A", 64, 64, 32);
  Flow flow(runtime);
  EXPECT_THAT(
      refused<UsageError>([&] { static_cast<void>(flow.acquire(read(a(0, 0)))); }),
      AllOf(HasSubstr("an acquire reads A[0,0], which nothing has written"), HasSubstr("holds_test.cpp:")));
}

TEST(AcquireMistakes, EmptyHandlesAndOtherRuntimes) {
  Runtime runtime(settings()), other(settings());
  int x = 0;
  const auto hx = other.value("x", x);
  Flow flow(runtime);
  EXPECT_THAT(refused<UsageError>([&] { static_cast<void>(flow.acquire(read(Handle<int>()))); }),
              HasSubstr("empty handle"));
  EXPECT_THAT(refused<UsageError>([&] { static_cast<void>(flow.acquire(read(hx))); }),
              HasSubstr("another runtime"));
}

TEST(AcquireMistakes, UseAReleasedHold) {
  Runtime runtime(settings());
  int x = 4;
  const auto hx = runtime.value("x", x);
  Flow flow(runtime);
  auto hold = flow.acquire(read(hx));
  hold.release();
  hold.release();  // does nothing
  EXPECT_THAT(refused<UsageError>([&] { hold.get<0>(); }),
              AllOf(HasSubstr("after its release"), HasSubstr("holds_test.cpp:")));
  EXPECT_THAT(refused<UsageError>([&] { Hold<In<int>>().get<0>(); }), HasSubstr("empty"));
}

TEST(AcquireMistakes, InABodyAndInAnotherThread) {
  Runtime runtime(settings());
  int x = 0, y = 0;
  const auto hx = runtime.value("x", x), hy = runtime.value("y", y);
  Flow flow(runtime);
  const auto mistake =
      codelet("mistake").cpu([&](InOut<int>) { static_cast<void>(flow.acquire(update(hy))); });
  flow.submit(mistake(hx));
  EXPECT_THAT(refused<TaskError>([&] { flow.wait(); }), HasSubstr("acquire was called"));
  std::string text;
  std::thread([&] { text = refused<UsageError>([&] { static_cast<void>(flow.acquire(read(hy))); }); }).join();
  EXPECT_THAT(text, HasSubstr("acquire was called by another thread"));
}

// A callback runs between tasks: a wait or submission there would wait for itself.
TEST(CallbackMistakes, WaitAndSubmitInACallback) {
  Runtime runtime(settings(1));
  int x = 0;
  const auto hx = runtime.value("x", x);
  Flow flow(runtime);
  std::string wait, submit;
  flow.acquire_then(
      [&](const Hold<In<int>>&) {
        wait = refused<UsageError>([&] { flow.wait(); });
        submit = refused<UsageError>([&] { flow.submit(increment(hx)); });
      },
      read(hx));
  flow.wait();
  EXPECT_THAT(wait, HasSubstr("wait was called inside a callback"));
  EXPECT_THAT(submit, HasSubstr("submit was called inside a callback"));
  expect_works(runtime);
}

TEST(AfterMistakes, AFutureOfAnotherRuntimeAndAnEmptyOne) {
  Runtime runtime(settings()), other(settings());
  const auto nothing = codelet("nothing").cpu([] {});
  Flow flow(runtime), flow_of_other(other);
  Future future = flow_of_other.future(nothing());
  EXPECT_THAT(
      refused<UsageError>([&] { flow.submit(nothing().after(future)); }),
      AllOf(HasSubstr("nothing cannot run after a task of another runtime"), HasSubstr("holds_test.cpp:")));
  const Future moved = std::move(future);
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(nothing().after(future)); }),
              HasSubstr("an empty future"));
  EXPECT_EQ(flow.submitted(), 0u);
  expect_works(runtime);
}

}  // namespace
}  // namespace fairlead::misuse
