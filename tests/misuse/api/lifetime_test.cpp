// Objects that are destroyed in the wrong order or by the wrong thread.
#include "misuse/api/refused.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace fairlead::misuse {
namespace {

using testing::HasSubstr;

// Its tasks are run; later calls get an error.
TEST(Lifetime, ARuntimeIsDestroyedWithTasksPending) {
  auto runtime = std::make_unique<Runtime>(settings());
  int x = 0;
  const auto handle = runtime->value("x", x);
  const auto a = runtime->tiled<double>("A", 512, 512, 64);  // larger than the memory
  Flow flow(*runtime);
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) flow.submit(fill_tile(a(i, j), 1.0));
  for (int i = 0; i < 500; ++i) flow.submit(increment(handle));
  runtime.reset();
  EXPECT_EQ(x, 500);
  EXPECT_EQ(flow.done(), 692u);
  EXPECT_THAT(refused<UsageError>([&] { flow.submit(increment(handle)); }),
              HasSubstr("submit was called after its runtime was destroyed"));
  EXPECT_THAT(refused<UsageError>([&] { flow.wait(); }),
              HasSubstr("wait was called after its runtime was destroyed"));
  EXPECT_NO_THROW(flow.cancel());
  Runtime another(settings());
  expect_works(another);
}

TEST(Lifetime, ARuntimeIsDestroyedWhileAnAsynchronousTaskRuns) {
  auto runtime = std::make_unique<Runtime>(settings());
  int x = 0;
  const auto handle = runtime->value("x", x);
  std::thread thread;
  const auto later = codelet("later").cpu([&](Completion completion, InOut<int> value) {
    thread = std::thread([completion, &v = value.get()] {
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      v = 7;
      completion.done();
    });
  });
  Flow flow(*runtime);
  flow.submit(later(handle));
  runtime.reset();
  EXPECT_EQ(x, 7);
  thread.join();
}

TEST(Lifetime, AFlowIsDestroyedWithTasksPending) {
  int x = 0;
  Runtime runtime(settings());
  const auto handle = runtime.value("x", x);
  {
    Flow flow(runtime);
    for (int i = 0; i < 1000; ++i) flow.submit(increment(handle));
  }
  EXPECT_EQ(x, 1000);
}

TEST(Lifetime, AFlowWithFailedTasksIsDestroyedWithoutAWait) {
  int x = 0;
  Runtime runtime(settings());
  const auto handle = runtime.value("x", x);
  const auto fail = codelet("fail").cpu([](InOut<int>) { throw std::runtime_error("no"); });
  {
    Flow flow(runtime);
    flow.submit(fail(handle));
  }
  expect_works(runtime);
}

// No caller waits for the failure: standard error reports it, once,
TEST(Lifetime, AFailureInAFlowWithoutAWaitIsPrinted) {
  int x = 0;
  Runtime runtime(settings());
  const auto handle = runtime.value("x", x);
  const auto fail = codelet("fail").cpu([](InOut<int>) { throw std::runtime_error("the cat"); });
  testing::internal::CaptureStderr();
  {
    Flow flow(runtime);
    flow.submit(fail(handle));
    flow.submit(increment(handle));
  }
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      testing::AllOf(HasSubstr("fairlead: a flow ended without a wait(): the task fail(x), submitted at"),
                     HasSubstr("the cat"), HasSubstr("1 task that needed its results was not run")));
  testing::internal::CaptureStderr();
  {
    Flow flow(runtime);
    flow.submit(codelet("fine").cpu([](Out<int> v) { *v = 1; })(handle));
    flow.submit(increment(handle).on_done([](std::exception_ptr) { throw std::runtime_error("the dog"); }));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("threw: the dog"));
}

// and not if a caller got the error, or nothing failed.
TEST(Lifetime, AReportedFailureIsNotPrinted) {
  int x = 0;
  Runtime runtime(settings());
  const auto handle = runtime.value("x", x);
  const auto fail = codelet("fail").cpu([](Out<int>) { throw std::runtime_error("no"); });
  testing::internal::CaptureStderr();
  {
    Flow flow(runtime);
    flow.submit(fail(handle));
    EXPECT_THROW(flow.wait(), TaskError);
  }
  {
    Flow flow(runtime);
    const Future future = flow.future(fail(handle));
    EXPECT_THROW(future.wait(), TaskError);
  }
  {
    Flow flow(runtime);
    flow.submit(fail(handle).on_done([](std::exception_ptr) {}));
  }
  {
    Flow flow(runtime);
    flow.cancel();
    flow.submit(increment(handle));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Lifetime, ARuntimeReportsThatItDropsATaskThatWaitsForAHold) {
  int x = 0;
  Hold<InOut<int>> kept;
  testing::internal::CaptureStderr();
  {
    Runtime runtime(settings());
    const auto handle = runtime.value("x", x);
    Flow flow(runtime);
    kept = flow.acquire(update(handle));
    flow.submit(increment(handle));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(HasSubstr("were not run"), HasSubstr("this thread holds x (read-write)"),
                             HasSubstr("increment waits for x"), HasSubstr("lifetime_test.cpp:")));
  *kept = 3;  // still valid
  kept.release();
  EXPECT_THAT(refused<UsageError>([&] { kept.get<0>(); }), HasSubstr("after its release"));
  EXPECT_EQ(x, 3);
}

// Another thread, which cannot wait, destroys both: tasks that are not run are reported.
TEST(Lifetime, AFlowAndItsRuntimeAreDestroyedByAnotherThread) {
  for (int round = 0; round < 20; ++round) {
    auto runtime = std::make_unique<Runtime>(settings());
    int x = 0;
    const auto handle = runtime->value("x", x);
    auto flow = std::make_unique<Flow>(*runtime);
    for (int i = 0; i < 100; ++i) flow->submit(increment(handle));
    testing::internal::CaptureStderr();
    std::thread([&] {
      flow.reset();
      runtime.reset();
    }).join();
    EXPECT_EQ(testing::internal::GetCapturedStderr().find("were not run") == std::string::npos, x == 100);
  }
}

TEST(Lifetime, AMatrixIsDestroyedWithTasksPending) {
  Runtime runtime(settings());
  std::atomic<int> ran = 0;
  const auto count = codelet("count").cpu([&](Out<Tile<double>> t) { t(0, 0) = 1, ++ran; });
  Flow flow(runtime);
  {
    const auto a = runtime.tiled<double>("A", 512, 512, 64);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) flow.submit(count(a(i, j)));
  }
  EXPECT_EQ(ran, 64);
  flow.wait();
}

// That thread cannot wait: the data of the tasks stay, and they run.
TEST(Lifetime, AFlowAndAMatrixAreDestroyedByAnotherThread) {
  int x = 0;
  Runtime runtime(settings());
  const auto handle = runtime.value("x", x);
  auto matrix = std::make_unique<TiledMatrix<double>>(runtime.tiled<double>("A", 512, 512, 64));
  auto flow = std::make_unique<Flow>(runtime);
  for (int i = 0; i < 64; ++i) flow->submit(fill_tile((*matrix)(i / 8, i % 8), 1.0));
  for (int i = 0; i < 1000; ++i) flow->submit(increment(handle));
  std::thread([&] {
    flow.reset();
    matrix.reset();
  }).join();
  expect_works(runtime);
}

TEST(Lifetime, AFlowAndAMatrixAreDestroyedInABody) {
  for (const std::size_t workers : {1, 2}) {
    int x = 0, y = 0;  // used until the runtime ends: a body cannot wait for other tasks
    Runtime runtime(settings(workers));
    const auto hx = runtime.value("x", x), hy = runtime.value("y", y);
    auto matrix = std::make_unique<TiledMatrix<double>>(runtime.tiled<double>("A", 512, 512, 64));
    auto other = std::make_unique<Flow>(runtime);
    const auto destroy = codelet("destroy").cpu([&](InOut<int>) {
      other.reset();
      matrix.reset();
    });
    for (int i = 0; i < 64; ++i) other->submit(fill_tile((*matrix)(i / 8, i % 8), 1.0));
    for (int i = 0; i < 300; ++i) other->submit(increment(hy));
    Flow flow(runtime);
    flow.submit(destroy(hx));
    flow.wait();
    EXPECT_EQ(other, nullptr);
    expect_works(runtime);
  }
}

TEST(Lifetime, ARuntimeIsDestroyedByAnotherThread) {
  auto runtime = std::make_unique<Runtime>(settings());
  expect_works(*runtime);
  std::thread([&] { runtime.reset(); }).join();
}

TEST(Lifetime, ManyMatricesAreCreatedAndDestroyed) {
  Runtime runtime(settings());
  Flow flow(runtime);
  std::vector<Handle<Tile<double>>> old;
  for (int round = 0; round < 50; ++round) {
    const auto a = runtime.tiled<double>("A", 256, 256, 64);
    for (int i = 0; i < 16; ++i) flow.submit(fill_tile(a(i / 4, i % 4), 1.0));
    for (const auto& handle : old) EXPECT_THROW(flow.submit(fill_tile(handle, 1.0)), UsageError);
    old.push_back(a(round % 4, 0));
  }
  flow.wait();
}

TEST(Lifetime, ACancelledFlowReportsIt) {
  int x = 0;
  Runtime runtime(settings());
  const auto handle = runtime.value("x", x);
  Flow flow(runtime);
  flow.cancel();
  for (int i = 0; i < 5; ++i) flow.submit(increment(handle));
  EXPECT_THAT(refused<TaskError>([&] { flow.wait(); }), HasSubstr("5 tasks were cancelled"));
  EXPECT_EQ(x, 0);
  expect_works(runtime);
}

// For a program that ends: nothing hangs, whatever the cap of the disk.
TEST(Lifetime, AFlushIsAborted) {
  Config config = settings(2, "4MiB");
  config.set("disk-bandwidth", "100kB/s");
  Runtime runtime(config);
  const auto a = runtime.tiled<double>("A", 512, 512, 64);
  Flow flow(runtime);
  for (int i = 0; i < 64; ++i) flow.submit(fill_tile(a(i / 8, i % 8), 1.0));
  flow.wait();
  std::thread another([&] { runtime.wind_down(); });
  EXPECT_THROW(runtime.flush(), Error);  // two megabytes: twenty seconds
  another.join();
}

// For Ctrl-C in a program that is submitting tasks. With one worker, the program's own thread, no task has run
// before wait().
TEST(Lifetime, SubmissionFailsWhenTheProgramEnds) {
  Runtime runtime(settings(1, "4MiB"));
  const auto a = runtime.tiled<double>("A", 512, 512, 64);
  Flow flow(runtime);
  flow.submit(fill_tile(a(0, 0), 1.0));
  flow.cancel();
  runtime.wind_down();
  EXPECT_THROW(flow.submit(fill_tile(a(1, 0), 1.0)), Error);
  EXPECT_THROW(flow.wait(), Error);
}

TEST(Lifetime, RegistrationFailsWhenTheProgramEnds) {
  Runtime runtime(settings(2, "4MiB"));
  runtime.wind_down();
  EXPECT_THROW(runtime.tiled<double>("A", 4096, 4096, 8), Error);
}

// Variables of bodies may be declared after the flow, and are destroyed before any other wait for the bodies.
TEST(Lifetime, NoBodyRunsWhenTheProgramGetsTheErrorThatItEnds) {
  for (const bool registers : {false, true}) {
    Runtime runtime(settings(2, "4MiB"));
    int x = 0, y = 0;
    const auto first = runtime.value("x", x), second = runtime.value("y", y);
    std::atomic<bool> begun{false}, over{false};
    const auto slow = codelet("slow").cpu([&](Out<int>) {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      over = true;
    });
    Flow flow(runtime);
    flow.submit(slow(first));
    while (!begun) std::this_thread::yield();
    flow.cancel();
    runtime.wind_down();
    if (registers)
      EXPECT_THROW(runtime.tiled<double>("A", 4096, 4096, 8), Error);
    else
      EXPECT_THROW(flow.submit(increment(second)), Error);
    EXPECT_TRUE(over);
  }
}

}  // namespace
}  // namespace fairlead::misuse
