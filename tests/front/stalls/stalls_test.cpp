// Planted stalls in real runs: within the configured period, the watchdog reports the datum, the task and the
// line where it was submitted. A slow but healthy run causes no report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

Config settings(const char* workers = "2") {
  Config config;
  config.set("workers", workers);
  config.set("memory", "1MiB");
  config.set("quiet-period", "1");
  config.set("bind-threads", false);
  return config;
}

/// Collects the reports of the watchdog; each report ends the stall.
class WatchdogReports {
 public:
  WatchdogReports(Runtime& runtime, std::function<void()> end_stall) {
    runtime.on_quiet([this, end_stall](const std::string& text) {
      {
        const std::lock_guard guard(mutex_);
        text_ += text;
      }
      end_stall();
    });
  }
  std::string text() {
    const std::lock_guard guard(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

/// A container into which one thread puts values and from which another takes them.
template <class T>
class Kept {
 public:
  void put(T what) {
    const std::lock_guard guard(mutex_);
    kept_.push_back(std::move(what));
  }
  auto keep() {
    return [this](T what) { put(std::move(what)); };
  }
  std::vector<T> take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(kept_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<T> kept_;
};
using KeptHold = Kept<Hold<InOut<double>>>;

TEST(Stalls, AHoldThatIsNeverReleased) {
  Runtime runtime(settings());
  double x = 0;
  const auto datum = runtime.value("x", x);
  KeptHold kept;
  WatchdogReports reports(runtime, [&] { kept.take(); });
  const auto use = codelet("use").cpu([](InOut<double> v) { *v += 1; });
  Flow flow(runtime);
  flow.acquire_then(kept.keep(), update(datum));
  flow.submit(use(datum));
  flow.wait();
  EXPECT_EQ(x, 1);
  EXPECT_THAT(reports.text(),
              AllOf(HasSubstr("nothing has happened for 1"), HasSubstr("the program holds x (read-write)"),
                    HasSubstr("stalls_test.cpp")));
}

// The hold keeps the runtime alive. The program destroys its own reference first, so the watchdog's thread
// releases the last one.
TEST(Stalls, TheCallbackMayReleaseTheLastHold) {
  std::optional<Runtime> runtime(std::in_place, settings());
  std::atomic<bool> going{false};
  double x = 0;
  KeptHold kept;
  runtime->on_quiet([&](const std::string&) {
    auto holds = kept.take();
    for (auto& hold : holds) hold.release();
    const auto limit = std::chrono::steady_clock::now() + 5s;
    while (!going.load() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    std::this_thread::sleep_for(50ms);  // the program is about to destroy the runtime
  });
  {
    const auto datum = runtime->value("x", x);
    const auto use = codelet("use").cpu([](InOut<double> v) { *v += 1; });
    Flow flow(*runtime);
    flow.acquire_then(kept.keep(), update(datum));
    flow.submit(use(datum));
    flow.wait();
  }
  going = true;
  runtime.reset();
  EXPECT_EQ(x, 1);
}

TEST(Stalls, ACompletionThatIsNeverSignalled) {
  Runtime runtime(settings());
  double x = 0;
  const auto datum = runtime.value("x", x);
  Kept<Completion> kept;
  WatchdogReports reports(runtime, [&] {
    for (const Completion& completion : kept.take()) completion.done();
  });
  const auto start =
      codelet("start").cpu([&](Completion completion, InOut<double>) { kept.put(completion); });
  const auto use = codelet("use").cpu([](InOut<double> v) { *v += 1; });
  Flow flow(runtime);
  flow.submit(start(datum));
  flow.submit(use(datum));
  flow.wait();
  EXPECT_EQ(x, 1);
  EXPECT_THAT(reports.text(),
              AllOf(HasSubstr("start(x), submitted at"), HasSubstr("stalls_test.cpp"),
                    HasSubstr("its body has returned, but its Completion has not been signalled")));
}

// A waits for the hold, B is ordered after A, and only B's callback would release the hold.
TEST(Stalls, ACycleOfExplicitOrderAndAHold) {
  Runtime runtime(settings());
  double x = 0, y = 0;
  const auto first = runtime.value("x", x), second = runtime.value("y", y);
  KeptHold kept;
  WatchdogReports reports(runtime, [&] { kept.take(); });
  const auto use = codelet("use").cpu([](InOut<double> v) { *v += 1; });
  Flow flow(runtime);
  flow.acquire_then(kept.keep(), update(first));
  const Future a = flow.future(use(first));
  flow.submit(use(second).after(a).on_done([&](std::exception_ptr) { kept.take(); }));
  flow.wait();
  EXPECT_EQ(x + y, 2);
  EXPECT_THAT(reports.text(), HasSubstr("the program holds x (read-write), acquired at"));
}

// Memory for four tiles. Tasks that do not finish use three of them; another task needs two.
TEST(Stalls, MemoryHeldByTasks) {
  Config config = settings();
  config.set("memory", "64KiB");
  config.set("scheduler", "lws");
  Runtime runtime(config);
  auto a = runtime.tiled<double>("A", 32 * 5, 32, 32);  // tiles of 8 KiB
  Kept<Completion> kept;
  std::atomic<bool> started{false};
  WatchdogReports reports(runtime, [&] {
    for (const Completion& completion : kept.take()) completion.done();
  });
  const auto keep = codelet("keep").cpu(
      [&](Completion completion, Out<Tile<double>>, Out<Tile<double>>, Out<Tile<double>>) {
        kept.put(completion);
        started = true;
        started.notify_all();
      });
  auto b = runtime.tiled<double>("B", 64, 64, 64);  // one tile of 32 KiB
  auto c = runtime.tiled<double>("C", 64, 64, 64);
  const auto fill = codelet("fill").cpu([](Out<Tile<double>> t) { t(0, 0) = 1; });
  const auto both = codelet("both").cpu([](In<Tile<double>>, InOut<Tile<double>> t) { t(0, 0) += 1; });
  Flow flow(runtime);
  flow.submit(fill(b(0, 0)));
  flow.submit(fill(c(0, 0)));
  flow.wait();
  flow.submit(keep(a(0, 0), a(1, 0), a(2, 0)));
  started.wait(false);
  flow.submit(both(b(0, 0), c(0, 0)));
  flow.wait();
  EXPECT_THAT(reports.text(),
              AllOf(HasSubstr("both(B[0,0], C[0,0]), submitted at"), HasSubstr("waits for memory in RAM"),
                    HasSubstr("24 KiB are used by keep(A[0,0], A[1,0], A[2,0])")));
}

// Bodies and a copy that take longer than the period.
TEST(Stalls, ASlowRunIsNotAStall) {
  Config config = settings();
  config.set("devices", "emulated:memory=1MiB,bandwidth=100KB/s");
  Runtime runtime(config);
  std::vector<double> much(20'000);  // 160 KB: 1.6 s
  auto a = runtime.tiled_in_place<double>("A", much.data(), 200, 100, 200, 200);
  std::atomic<bool> silent{true};
  runtime.on_quiet([&](const std::string& text) {
    silent = false;
    ADD_FAILURE() << text;
  });
  double x = 0;
  const auto datum = runtime.value("x", x);
  const auto slow = codelet("slow").cpu([](InOut<double> v) {
    std::this_thread::sleep_for(1500ms);
    *v += 1;
  });
  const auto far = codelet("far").emulated([](InOut<Tile<double>> t) { t(0, 0) = 1; });
  Flow flow(runtime);
  flow.submit(slow(datum));
  flow.submit(slow(datum));
  flow.submit(far(a(0, 0)));
  flow.wait();
  EXPECT_TRUE(silent);
}

TEST(Stalls, StatusListsRunningTasks) {
  Runtime runtime(settings());
  double x = 0;
  const auto datum = runtime.value("x", x);
  EXPECT_EQ(runtime.status(), "nothing to do\n");
  std::atomic<bool> started{false}, go_on{false};
  const auto work = codelet("work").cpu([&](InOut<double>) {
    started = true;
    started.notify_all();
    go_on.wait(false);
  });
  Flow flow(runtime);
  flow.submit(work(datum));
  started.wait(false);
  EXPECT_THAT(runtime.status(),
              AllOf(HasSubstr("work(x), submitted at"), HasSubstr("runs on worker 1 (RAM)")));
  go_on = true;
  go_on.notify_all();
  flow.wait();
}

}  // namespace
}  // namespace fairlead
