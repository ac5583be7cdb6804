// Runtimes on real threads: more workers than cores, without spinning, many runtimes at once and in sequence,
// asynchronous tasks, and tasks of very different lengths.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sanitized.hpp"

namespace fairlead {
namespace {

Config settings(std::size_t workers, std::uint64_t spin_microseconds = 50) {
  Config config;
  config.set("workers", workers);
  config.set("memory", "1MiB");
  config.set("spin", spin_microseconds);
  config.set("bind-threads", false);
  return config;
}

const auto add_one = codelet("add_one").cpu([](InOut<int> x) { ++*x; });

/// Runs parallel chains and out-of-core tasks; returns whether all results are correct.
bool works(Runtime& runtime, int tasks) {
  std::vector<int> values(8);
  std::vector<Handle<int>> handles;
  for (int& value : values) handles.push_back(runtime.value("v", value));
  const auto matrix = runtime.tiled<int>("A", 1024, 1024, 128);  // four times the memory
  const auto fill = codelet("fill").cpu([](Out<Tile<int>> t, int number) { t(3, 5) = number; });
  int sum = 0;
  const auto total = runtime.value("sum", sum);
  const auto add = codelet("add").cpu([](In<Tile<int>> t, Commute<int> to) { *to += t(3, 5); });
  {
    Flow flow(runtime);
    for (int i = 0; i < tasks; ++i) flow.submit(add_one(handles[static_cast<std::size_t>(i % 8)]));
    for (int i = 0; i < 64; ++i) flow.submit(fill(matrix(i / 8, i % 8), i));
    for (int i = 0; i < 64; ++i) flow.submit(add(matrix(i / 8, i % 8), total));
    flow.wait();
  }
  int counted = 0;
  for (const int value : values) counted += value;
  return counted == tasks && sum == 64 * 63 / 2;
}

class CpuWorld : public testing::TestWithParam<std::tuple<std::size_t, int>> {};

TEST_P(CpuWorld, RunsWithAnyNumberOfWorkers) {
  const auto [workers, spin] = GetParam();
  Runtime runtime(settings(workers, static_cast<std::uint64_t>(spin)));
  for (int round = 0; round < 2; ++round) EXPECT_TRUE(works(runtime, 1000));
}

INSTANTIATE_TEST_SUITE_P(WorkersAndSpin, CpuWorld,
                         testing::Combine(testing::Values(1, 2, 3, 5, 8), testing::Values(0, 50)));

TEST(CpuWorldRuntimes, SeveralAtOnceEachWithItsOwnThread) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (std::size_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      Runtime runtime(settings(1 + i % 3, i % 2 == 0 ? 0 : 50));
      for (int round = 0; round < 3; ++round) right += works(runtime, 500);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 12);
}

TEST(CpuWorldRuntimes, SeveralOfOneThreadAlternate) {
  Runtime first(settings(2)), second(settings(3, 0));
  int x = 0, y = 0;
  const auto hx = first.value("x", x), hy = second.value("y", y);
  Flow to_first(first), to_second(second);
  for (int i = 0; i < 1000; ++i) {
    to_first.submit(add_one(hx));
    to_second.submit(add_one(hy));
  }
  to_second.wait();
  to_first.wait();
  EXPECT_EQ(x, 1000);
  EXPECT_EQ(y, 1000);
}

// One inside a body of another: it belongs to the thread that runs the body.
TEST(CpuWorldRuntimes, OneInsideABodyOfAnother) {
  Runtime outer(settings(2));
  std::vector<int> values(6);
  Flow flow(outer);
  const auto nested = codelet("nested").cpu([](InOut<int> result) {
    Runtime inner(settings(2));
    *result = works(inner, 100);
  });
  for (int& value : values) flow.submit(nested(outer.value("v", value)));
  flow.wait();
  EXPECT_EQ(values, std::vector<int>(6, 1));
}

TEST(CpuWorldRuntimes, TwoHundredOneAfterTheOther) {
  for (int i = 0; i < 200; ++i) {
    Runtime runtime(settings(1 + static_cast<std::size_t>(i) % 4, i % 3 == 0 ? 0 : 50));
    if (i % 2 == 0) continue;  // constructed and destroyed without use
    int x = 0;
    const auto handle = runtime.value("x", x);
    Flow flow(runtime);
    for (int k = 0; k < i % 7; ++k) flow.submit(add_one(handle));
    flow.wait();
    ASSERT_EQ(x, i % 7);
  }
}

/// Threads that complete tasks for the bodies.
class Elsewhere {
 public:
  explicit Elsewhere(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~Elsewhere() {
    {
      const std::lock_guard guard(mutex_);
      over_ = true;
    }
    more_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  void do_later(std::function<void()> work) {
    {
      const std::lock_guard guard(mutex_);
      work_.push_back(std::move(work));
    }
    more_.notify_one();
  }

 private:
  void run() {
    for (std::unique_lock lock(mutex_);;) {
      more_.wait(lock, [this] { return over_ || !work_.empty(); });
      if (work_.empty()) return;
      const auto work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> work_;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

TEST(CpuWorldAsynchronous, TasksCompleteInManyThreads) {
  for (const std::size_t workers : {1, 2, 4}) {
    std::vector<int> values(20);
    {
      Elsewhere elsewhere(4);
      Runtime runtime(settings(workers, workers == 2 ? 0 : 50));
      const auto later = codelet("later").cpu([&](Completion completion, InOut<int> x) {
        elsewhere.do_later([completion, &value = x.get()] {
          ++value;
          completion.done();
        });
      });
      Flow flow(runtime);
      std::vector<Handle<int>> handles;
      for (int& value : values) handles.push_back(runtime.value("v", value));
      for (int i = 0; i < 2000; ++i) {
        const auto& handle = handles[static_cast<std::size_t>(i) % handles.size()];
        flow.submit(later(handle));
        if (i % 3 == 0) flow.submit(add_one(handle));
      }
      flow.wait();
    }
    int sum = 0;
    for (const int value : values) sum += value;
    EXPECT_EQ(sum, 2000 + 667);
  }
}

/// Runs its function when the last copy of an argument is destroyed.
template <class F>
std::shared_ptr<void> at_the_end(F f) {
  return {nullptr, [f = std::move(f)](void*) { f(); }};
}

// An argument is destroyed when its task completes, here where the token is signalled. Its destructor is user code and
// may call the runtime.
TEST(CpuWorldAsynchronous, TheDestructorOfAnArgumentMayReleaseAnotherTasksToken) {
  for (const std::size_t workers : {1, 2}) {
    Runtime runtime(settings(workers));
    std::atomic<int> begun = 0;
    auto box = std::make_shared<std::optional<Completion>>();
    std::optional<Completion> own;
    const auto first = codelet("first").cpu([&begun, into = box.get()](Completion token) {
      *into = std::move(token);
      ++begun;
    });
    const auto second =
        codelet("second").cpu([&](Completion token, const std::shared_ptr<std::optional<Completion>>&) {
          own = std::move(token);
          ++begun;
        });
    Flow flow(runtime);
    flow.submit(first());
    flow.submit(second(box));
    box.reset();
    std::thread elsewhere([&] {
      while (begun.load() != 2) std::this_thread::yield();
      own->fail(std::make_exception_ptr(std::runtime_error("no")));
    });
    try {
      flow.wait();
      FAIL() << "two tasks have failed";
    } catch (const TaskError& error) {
      EXPECT_NE(std::string(error.what()).find("1 more task failed"), std::string::npos) << error.what();
    }
    elsewhere.join();
  }
}

TEST(CpuWorldAsynchronous, TheDestructorOfAnArgumentMayCancelAndSignal) {
  for (const std::size_t workers : {1, 2}) {
    Runtime runtime(settings(workers));
    std::atomic<int> begun = 0;
    std::optional<Completion> other, own;
    const auto first = codelet("first").cpu([&](Completion token) {
      other = std::move(token);
      ++begun;
    });
    const auto second = codelet("second").cpu([&](Completion token, const std::shared_ptr<void>&) {
      own = std::move(token);
      ++begun;
    });
    Flow flow(runtime), cancelled(runtime);
    flow.submit(first());
    flow.submit(second(at_the_end([&] {
      cancelled.cancel();
      other->done();
    })));
    std::thread elsewhere([&] {
      while (begun.load() != 2) std::this_thread::yield();
      own->done();
    });
    flow.wait();
    elsewhere.join();
    int x = 0;
    cancelled.submit(add_one(runtime.value("x", x)));
    EXPECT_THROW(cancelled.wait(), TaskError);
    EXPECT_EQ(x, 0);
  }
}

// A task becomes ready with its last input, while another thread may just have reported an earlier one: the engine must
// process that report first, or it would fetch an old value from the disk.
TEST(CpuWorld, ProcessesAllInputsBeforeTheTaskThatReadsThem) {
  for (int round = 0; round < (tests::thread_sanitized ? 20 : 40); ++round) {
    Runtime runtime(settings(4));
    const auto matrix = runtime.tiled<double>("A", 64, 64, 16);  // 16 tiles that are in memory
    const auto set = codelet("set").cpu([](Out<Tile<double>> t, int value) { t(0, 0) = value; });
    std::atomic<int> wrong = 0;
    const auto look = codelet("look").cpu(
        [&](In<Tile<double>> a, In<Tile<double>> b, In<Tile<double>> c, In<Tile<double>> d, int value) {
          wrong += a(0, 0) != value || b(0, 0) != value || c(0, 0) != value || d(0, 0) != value;
        });
    Flow flow(runtime);
    for (int value = 1; value <= 60; ++value) {
      for (int i = 0; i < 16; ++i) flow.submit(set(matrix(i / 4, i % 4), value));
      for (int i = 0; i < 4; ++i)
        flow.submit(look(matrix(i, 0), matrix(i, 1), matrix(i, 2), matrix(i, 3), value));
      for (int i = 0; i < 4; ++i)
        flow.submit(look(matrix(0, i), matrix(1, i), matrix(2, i), matrix(3, i), value));
    }
    flow.wait();
    ASSERT_EQ(wrong, 0) << "round " << round;
  }
}

// The long task ends only after all others have run: it hangs if some wait behind it in its worker's mailbox while other
// workers are idle. So staged tasks are recalled and given to idle workers.
TEST(CpuWorldRecall, NoTaskWaitsBehindALongOne) {
  for (const std::size_t workers : {2, 3, 4})
    for (int round = 0; round < 5; ++round) {
      constexpr int others = 60;
      Runtime runtime(settings(workers, round % 2 == 0 ? 0 : 50));
      std::atomic<int> ran = 0;
      std::vector<int> values(others + 1);
      const auto quick = codelet("quick").cpu([&](InOut<int>) { ++ran; });
      const auto lengthy = codelet("lengthy").cpu([&](InOut<int>) {
        while (ran.load() != others) std::this_thread::yield();
      });
      Flow flow(runtime);
      for (int i = 0; i <= others; ++i) {
        const auto handle = runtime.value("v", values[static_cast<std::size_t>(i)]);
        if (i == others / 3) {
          flow.submit(lengthy(handle));
        } else {
          flow.submit(quick(handle));
        }
      }
      flow.wait();
      EXPECT_EQ(ran, others);
    }
}

// As above, but every task reads data from the disk, so that many are staged ahead.
TEST(CpuWorldRecall, NoTaskWithDataFromDiskWaitsBehindALongOne) {
  for (const char* policy : {"eager", "lws", "dmda", "dmdas", "ap", "darts", "darts-defer", "blocks"}) {
    SCOPED_TRACE(policy);
    Config config = settings(2);
    config.set("scheduler", policy);
    Runtime runtime(config);
    const auto matrix = runtime.tiled<double>("A", 1024, 1024, 64);  // 256 tiles of 32 KiB
    std::atomic<int> ran = 0;
    const auto fill = codelet("fill").cpu([](Out<Tile<double>> t, double value) { t(0, 0) = value; });
    const auto quick = codelet("quick").cpu([&](InOut<Tile<double>> t) {
      ++ran;
      t(0, 0) += 1;
    });
    const auto lengthy = codelet("lengthy").cpu([&](InOut<Tile<double>>) {
      while (ran.load() != 255) std::this_thread::yield();
    });
    Flow flow(runtime);
    for (int i = 0; i < 256; ++i) flow.submit(fill(matrix(i / 16, i % 16), i));
    for (int i = 0; i < 256; ++i) {
      if (i == 100)
        flow.submit(lengthy(matrix(i / 16, i % 16)));
      else
        flow.submit(quick(matrix(i / 16, i % 16)));
    }
    flow.wait();
    EXPECT_EQ(ran, 255);
  }
}

}  // namespace
}  // namespace fairlead
