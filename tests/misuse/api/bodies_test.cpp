// Failures and forbidden calls in a body: the task fails with a TaskError that names the task, its data and its
// line, and the run continues to its end.
#include "misuse/api/refused.hpp"

#include <pthread.h>

#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace fairlead::misuse {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The message of wait() for one task of this codelet, named "mistake".
template <class Codelet>
std::string failure_of_one(const Codelet& mistake, std::size_t workers) {
  Runtime runtime(settings(workers));
  int x = 0;
  const auto handle = runtime.value("x", x);
  Flow flow(runtime);
  flow.submit(mistake(handle));
  const std::string text = refused<TaskError>([&] { flow.wait(); });
  EXPECT_THAT(text, AllOf(HasSubstr("mistake(x)"), HasSubstr("bodies_test.cpp:")));
  expect_works(runtime);
  return text;
}

/// The same for a body that calls this.
std::string failure_of(const std::function<void()>& what, std::size_t workers = 1) {
  return failure_of_one(codelet("mistake").cpu([&what](InOut<int>) { what(); }), workers);
}

TEST(Bodies, ThrowAnException) {
  EXPECT_THAT(failure_of([] { throw std::runtime_error("the cat is on the keyboard"); }),
              HasSubstr("the cat is on the keyboard"));
}

TEST(Bodies, ThrowSomethingElse) {
  EXPECT_THAT(failure_of([] { throw 42; }), HasSubstr("not a std::exception"));
}

/// Errors of libraries in C are wrapped like this.
struct Wordless : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

TEST(Bodies, ThrowAnExceptionWithoutAText) {
  EXPECT_THAT(failure_of([] { throw Wordless(); }), HasSubstr("what() is null"));
}

TEST(Bodies, ACallbackThrowsAnExceptionWithoutAText) {
  Runtime runtime(settings());
  int x = 0;
  const auto hx = runtime.value("x", x);
  Flow flow(runtime);
  flow.submit(increment(hx).on_done([](std::exception_ptr) { throw Wordless(); }));
  EXPECT_THAT(refused<TaskError>([&] { flow.wait(); }), HasSubstr("what() is null"));
}

// ---- bodies that end the thread that runs them

class EndTheirThread : public testing::TestWithParam<bool> {
 protected:
  static Config with_fast_path(std::size_t workers) {
    Config config = settings(workers);
    config.set("fast-path", GetParam());
    return config;
  }
};
INSTANTIATE_TEST_SUITE_P(FastPath, EndTheirThread, testing::Values(false, true),
                         [](const auto& fast_path) { return fast_path.param ? "FastPath" : "Engine"; });

// A worker's thread is replaced: the task fails, all others run, on as many threads as before.
TEST_P(EndTheirThread, OfAWorker) {
  Runtime runtime(with_fast_path(2));
  int x = 0, y = 0;
  const auto hx = runtime.value("x", x), hy = runtime.value("y", y);
  const auto mistake = codelet("mistake").cpu([](Out<int>) { pthread_exit(nullptr); });
  for (int round = 0; round < 3; ++round) {
    Flow flow(runtime);
    flow.submit(mistake(hx));
    flow.submit(increment(hx));
    flow.submit(increment(hy));
    while (flow.done() < 3) std::this_thread::yield();  // this thread runs no tasks
    EXPECT_THAT(refused<TaskError>([&] { flow.wait(); }),
                AllOf(HasSubstr("mistake(x)"), HasSubstr("pthread_exit"), HasSubstr("1 task that needed")));
    EXPECT_EQ(y, round + 1);
  }
  EXPECT_EQ(x, 0);
  expect_works(runtime);
}

// The program's thread ends as usual: its stack is unwound.
TEST_P(EndTheirThread, OfTheProgram) {
  int x = 0, y = 0;
  bool came_back = false;
  testing::internal::CaptureStderr();
  std::thread([&] {
    Runtime runtime(with_fast_path(1));
    const auto hx = runtime.value("x", x), hy = runtime.value("y", y);
    const auto mistake = codelet("mistake").cpu([](InOut<int>) { pthread_exit(nullptr); });
    Flow flow(runtime);
    flow.submit(mistake(hx));
    for (int i = 0; i < 100; ++i) flow.submit(increment(hy));
    flow.wait();
    came_back = true;
  }).join();
  EXPECT_FALSE(came_back);
  EXPECT_EQ(y, 100);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("mistake(x)"), HasSubstr("pthread_exit")));
}

TEST(AsynchronousBodies, EndTheirThread) {
  Runtime runtime(settings(2));
  int x = 0;
  const auto hx = runtime.value("x", x);
  const auto mistake = codelet("mistake").cpu([](Completion, InOut<int>) { pthread_exit(nullptr); });
  Flow flow(runtime);
  flow.submit(mistake(hx));
  while (flow.done() == 0) std::this_thread::yield();
  EXPECT_THAT(refused<TaskError>([&] { flow.wait(); }), HasSubstr("pthread_exit"));
  expect_works(runtime);
}

TEST(Bodies, TheCauseIsNestedWithItsType) {
  Runtime runtime(settings());
  int x = 0;
  const auto handle = runtime.value("x", x);
  const auto fail = codelet("fail").cpu([](InOut<int>) { throw std::out_of_range("row 7"); });
  Flow flow(runtime);
  flow.submit(fail(handle));
  try {
    flow.wait();
    FAIL();
  } catch (const TaskError& error) {
    EXPECT_THROW(std::rethrow_if_nested(error), std::out_of_range);
  }
}

// The error reports the first failure and the number of others; tasks that need their results are not run.
TEST(Bodies, ManyFail) {
  Runtime runtime(settings(4));
  std::vector<int> x(50);
  const auto fail = codelet("fail").cpu([](InOut<int>) { throw std::runtime_error("no"); });
  Flow flow(runtime);
  for (int& value : x) {
    const auto handle = runtime.value("x", value);
    flow.submit(fail(handle));
    flow.submit(increment(handle));
  }
  EXPECT_THAT(refused<TaskError>([&] { flow.wait(); }),
              AllOf(HasSubstr("49 more tasks failed"), HasSubstr("50 tasks that needed")));
  EXPECT_EQ(x, std::vector<int>(50));
  flow.wait();  // reported once
}

// ---- asynchronous bodies

using Async = std::function<void(const Completion&)>;

std::string asynchronous_failure_of(const Async& what) {
  return failure_of_one(codelet("mistake").cpu([&what](Completion done, InOut<int>) { what(done); }), 2);
}

TEST(AsynchronousBodies, ThrowAnException) {
  EXPECT_THAT(asynchronous_failure_of([](const Completion&) { throw std::runtime_error("the cat"); }),
              HasSubstr("the cat"));
}

TEST(AsynchronousBodies, ThrowSomethingElse) {
  EXPECT_THAT(asynchronous_failure_of([](const Completion&) { throw 42; }),
              HasSubstr("not a std::exception"));
}

// The body passes its token to a thread, then throws: the task ends when both have finished.
TEST(AsynchronousBodies, ThrowAfterPassingTheTokenOn) {
  std::thread thread;
  EXPECT_THAT(asynchronous_failure_of([&](const Completion& completion) {
                thread = std::thread([completion] { completion.done(); });
                throw std::runtime_error("the cat");
              }),
              HasSubstr("the cat"));
  thread.join();
}

TEST(AsynchronousBodies, DropTheToken) {
  EXPECT_THAT(asynchronous_failure_of([](const Completion&) {}), HasSubstr("dropped"));
}

TEST(AsynchronousBodies, DropTheTokenInAnotherThread) {
  std::thread thread;
  EXPECT_THAT(asynchronous_failure_of([&](const Completion& completion) {
                thread =
                    std::thread([completion]() mutable { const Completion last = std::move(completion); });
              }),
              HasSubstr("dropped"));
  thread.join();
}

TEST(AsynchronousBodies, SignalTwice) {
  EXPECT_THAT(asynchronous_failure_of([](const Completion& completion) {
                completion.done();
                completion.done();
              }),
              HasSubstr("signalled twice"));
}

// A late signal gets an error, even after the end of the runtime.
TEST(AsynchronousBodies, SignalAgainAfterTheEnd) {
  std::optional<Completion> kept;
  {
    Runtime runtime(settings());
    int x = 0;
    const auto handle = runtime.value("x", x);
    const auto keep = codelet("keep").cpu([&kept](Completion completion, InOut<int>) {
      kept = completion;
      completion.done();
    });
    Flow flow(runtime);
    flow.submit(keep(handle));
    flow.wait();
  }
  EXPECT_THAT(refused<UsageError>([&] { kept->done(); }), HasSubstr("signalled twice"));
  EXPECT_THAT(refused<UsageError>([&] { kept->fail(nullptr); }), HasSubstr("signalled twice"));
}

TEST(AsynchronousBodies, FailWithoutACause) {
  EXPECT_THAT(asynchronous_failure_of([](const Completion& completion) { completion.fail(nullptr); }),
              HasSubstr("without a cause"));
}

// ---- forbidden calls in a body, on the application's thread and on another

class CalledInABody : public testing::TestWithParam<bool> {
 protected:
  /// The message of wait() after a body has called this.
  std::string refused_in_body(const std::function<void(Runtime&, Flow&, Handle<int>)>& call) {
    const bool on_another_thread = GetParam();
    Runtime runtime(settings(on_another_thread ? 2 : 1));
    int x = 0, y = 0;
    const auto handle = runtime.value("x", x), free = runtime.value("y", y);
    std::thread::id ran_on;
    const auto mistake = codelet("mistake").cpu([&](InOut<int>) {
      ran_on = std::this_thread::get_id();
      call(runtime, flow(), free);
    });
    flow_.emplace(runtime);
    flow_->submit(mistake(handle));
    while (on_another_thread && flow_->done() == 0) std::this_thread::yield();  // this thread runs no tasks
    const std::string text = refused<TaskError>([&] { flow_->wait(); });
    flow_.reset();
    EXPECT_EQ(ran_on != std::this_thread::get_id(), on_another_thread);
    EXPECT_EQ(y, 0);
    expect_works(runtime);
    return text;
  }

 private:
  Flow& flow() { return *flow_; }
  std::optional<Flow> flow_;
};

TEST_P(CalledInABody, Wait) {
  EXPECT_THAT(refused_in_body([](Runtime&, Flow& flow, Handle<int>) { flow.wait(); }),
              AllOf(HasSubstr("wait was called"), HasSubstr("task's body")));
}

TEST_P(CalledInABody, Submit) {
  EXPECT_THAT(refused_in_body([](Runtime&, Flow& flow, Handle<int> free) { flow.submit(increment(free)); }),
              AllOf(HasSubstr("submit was called"), HasSubstr("task's body")));
}

TEST_P(CalledInABody, Flush) {
  EXPECT_THAT(refused_in_body([](Runtime& runtime, Flow&, Handle<int>) { runtime.flush(); }),
              AllOf(HasSubstr("flush was called"), HasSubstr("task's body")));
}

TEST_P(CalledInABody, MakingAMatrix) {
  EXPECT_THAT(
      refused_in_body([](Runtime& runtime, Flow&, Handle<int>) { runtime.tiled<double>("A", 64, 64, 32); }),
      AllOf(HasSubstr("tiled was called"), HasSubstr("task's body")));
}

TEST_P(CalledInABody, ConstructingAFlow) {
  EXPECT_THAT(refused_in_body([](Runtime& runtime, Flow&, Handle<int>) { Flow another(runtime); }),
              AllOf(HasSubstr("beginning of a flow was called"), HasSubstr("task's body")));
}

INSTANTIATE_TEST_SUITE_P(Threads, CalledInABody, testing::Values(false, true), [](const auto& another) {
  return another.param ? "OnAnotherThread" : "OnTheApplicationsThread";
});

TEST(AnotherThread, MayNotSubmitOrWait) {
  Runtime runtime(settings());
  int x = 0;
  const auto handle = runtime.value("x", x);
  Flow flow(runtime);
  std::string submit, wait, make;
  std::thread([&] {
    submit = refused<UsageError>([&] { flow.submit(increment(handle)); });
    wait = refused<UsageError>([&] { flow.wait(); });
    make = refused<UsageError>([&] { runtime.value("y", x); });
  }).join();
  EXPECT_THAT(submit, HasSubstr("submit was called by another thread"));
  EXPECT_THAT(wait, HasSubstr("wait was called by another thread"));
  EXPECT_THAT(make, HasSubstr("value was called by another thread"));
  EXPECT_EQ(x, 0);
  expect_works(runtime);
}

}  // namespace
}  // namespace fairlead::misuse
