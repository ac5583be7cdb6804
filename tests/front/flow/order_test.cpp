// Order without shared data, and callbacks on completion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sanitized.hpp"

namespace fairlead {
namespace {

using testing::HasSubstr;

Config with(std::size_t workers) {
  Config config;
  config.set("workers", workers);
  config.set("memory", "16MiB");
  return config;
}

class Order : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, Order, testing::Values(1, 2, 4),
                         [](const auto& workers) { return std::to_string(workers.param); });

// Each task takes the next number. They share no datum: only after() orders them.
TEST_P(Order, AfterOrdersTasksWithoutSharedData) {
  Runtime runtime(with(GetParam()));
  std::atomic<int> next = 0;
  std::vector<int> number(2000, -1);
  const auto take = codelet("take").cpu([&](int i) { number[static_cast<std::size_t>(i)] = next++; });
  Flow flow(runtime);
  Future last = flow.future(take(0));
  for (int i = 1; i < 2000; ++i) last = flow.future(take(i).after(last));
  last.wait();
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(number[static_cast<std::size_t>(i)], i);
  flow.wait();
}

TEST_P(Order, AfterSupportsManyPredecessorsAndSuccessors) {
  Runtime runtime(with(GetParam()));
  std::atomic<int> before = 0, after = 0, wrong = 0;
  int x = 0;
  const auto hx = runtime.value("x", x);
  const auto first = codelet("first").cpu([&] { ++before; });
  const auto middle = codelet("middle").cpu([&](InOut<int> v) {
    wrong += before != 300 || after != 0;
    *v = 1;
  });
  const auto end = codelet("end").cpu([&] {
    wrong += x != 1;
    ++after;
  });
  Flow flow(runtime);
  std::vector<Future> all;
  for (int i = 0; i < 300; ++i) all.push_back(flow.future(first()));
  const Future gate = flow.future(middle(hx).after(all));
  for (int i = 0; i < 300; ++i) flow.submit(end().after(gate, all[0]).priority(i));
  flow.wait();
  EXPECT_EQ(after, 300);
  EXPECT_EQ(wrong, 0);
}

TEST(After, ATaskRunsAfterAFailedPredecessor) {
  Runtime runtime(with(2));
  int x = 0;
  const auto hx = runtime.value("x", x);
  const auto fail = codelet("fail").cpu([] { throw std::runtime_error("no"); });
  const auto clean_up = codelet("clean up").cpu([](Out<int> v) { *v = 1; });
  Flow flow(runtime);
  flow.submit(clean_up(hx).after(flow.future(fail())));
  EXPECT_THROW(flow.wait(), TaskError);
  EXPECT_EQ(x, 1);
}

TEST(After, PredecessorsMayBelongToAnotherFlow) {
  Runtime runtime(with(2));
  std::atomic<bool> first = false;
  bool in_order = false;
  const auto a = codelet("a").cpu([&] { first = true; });
  const auto b = codelet("b").cpu([&] { in_order = first; });
  Flow flow(runtime), other(runtime);
  other.submit(b().after(flow.future(a())));
  other.wait();
  EXPECT_TRUE(in_order);
}

// ---- callbacks

TEST_P(Order, CallbacksRunOnceBeforeWaitReturns) {
  Runtime runtime(with(GetParam()));
  int x = 0;
  const auto hx = runtime.value("x", x);
  std::atomic<int> calls = 0, at_once = 0, most_at_once = 0;
  const auto add = codelet("add").cpu([](InOut<int> v) { ++*v; });
  Flow flow(runtime);
  for (int i = 0; i < 1000; ++i)
    flow.submit(add(hx).on_done([&](std::exception_ptr failure) {
      most_at_once = std::max(most_at_once.load(), ++at_once);
      calls += failure == nullptr;
      --at_once;
    }));
  flow.wait();
  EXPECT_EQ(calls, 1000);
  EXPECT_EQ(most_at_once, 1);  // one at a time
  EXPECT_EQ(x, 1000);
}

/// On a device with separate memory, the callback runs once the value is in user memory.
class OnDoneByADevice : public testing::Test {
 protected:
  static Config machine() {
    Config config = with(1);
    config.set("devices", "emulated:memory=1MiB");
    return config;
  }
  Runtime runtime{machine()};
  Flow flow{runtime};
  int x = 0;
  std::atomic<int> calls{0};
  const Codelet<InOut<int>> add = codelet("add").emulated([](InOut<int> v) { ++*v; });
};
TEST_F(OnDoneByADevice, RunsForADatumThatReusesAnIdentifier) {
  int gone = 0;
  const auto before = runtime.value("gone", gone);
  runtime.remove(before);
  const auto hx = runtime.value("x", x);
  int seen = 0;
  flow.submit(add(hx).on_done([&](std::exception_ptr failure) { seen = failure == nullptr ? x : -1; }));
  flow.wait();
  EXPECT_EQ(seen, 1);
}
TEST_F(OnDoneByADevice, RunsBeforeItsDatumIsDestroyed) {
  for (int i = 1; i <= 50; ++i) {
    const auto hx = runtime.value("x", x);
    flow.submit(add(hx).on_done([&](std::exception_ptr failure) { calls += failure == nullptr; }));
    runtime.remove(hx);
    EXPECT_EQ(x, i);
  }
  flow.wait();
  EXPECT_EQ(calls, 50);
}
TEST_F(OnDoneByADevice, HasTheValueOrAFailureIfTheFlowIsCancelled) {
  for (int i = 0; i < 100; ++i) {
    x = 0;
    const auto hx = runtime.value("x", x);
    Flow cancelled(runtime);
    std::atomic<bool> called{false}, wrong{false};
    cancelled.submit(add(hx).on_done([&](std::exception_ptr failure) {
      wrong = failure == nullptr && x != 1;
      called = true;
    }));
    // A time limit, not a number of yields: on a busy machine each yield takes milliseconds.
    const auto until =
        std::chrono::steady_clock::now() + i * std::chrono::microseconds(tests::sanitized ? 50 : 10);
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    cancelled.cancel();
    try {
      cancelled.wait();
    } catch (const TaskError&) {
    }
    EXPECT_TRUE(called);
    EXPECT_FALSE(wrong);
    runtime.remove(hx);
  }
}
TEST_F(OnDoneByADevice, AnAcquireAfterCancellationThrows) {
  const auto hx = runtime.value("x", x);
  flow.cancel();
  EXPECT_THROW(static_cast<void>(flow.acquire(read(hx))), TaskError);
}

TEST(OnDone, ReportsTheFailureOfTheTaskOrThatItWasSkipped) {
  Runtime runtime(with(2));
  int x = 0;
  const auto hx = runtime.value("x", x);
  const auto fail = codelet("fail").cpu([](Out<int>) { throw std::out_of_range("row 7"); });
  const auto use = codelet("use").cpu([](In<int>) {});
  std::string failed, not_run;
  const auto text_of = [](const std::exception_ptr& failure) -> std::string {
    try {
      std::rethrow_exception(failure);
    } catch (const std::out_of_range& error) {
      return std::string("out of range: ") + error.what();
    } catch (const TaskError& error) {
      return error.what();
    }
  };
  Flow flow(runtime);
  flow.submit(fail(hx).on_done([&](std::exception_ptr failure) { failed = text_of(failure); }));
  flow.submit(use(hx).on_done([&](std::exception_ptr failure) { not_run = text_of(failure); }));
  EXPECT_THROW(flow.wait(), TaskError);
  EXPECT_EQ(failed, "out of range: row 7");
  EXPECT_THAT(not_run, HasSubstr("was not run"));
}

// The task succeeded, so its data are valid.
TEST(OnDone, WaitRethrowsTheExceptionOfACallback) {
  Runtime runtime(with(2));
  int x = 0;
  const auto hx = runtime.value("x", x);
  const auto add = codelet("add").cpu([](InOut<int> v) { ++*v; });
  Flow flow(runtime);
  flow.submit(add(hx).on_done([](std::exception_ptr) { throw std::runtime_error("the cat"); }));
  flow.submit(add(hx));
  try {
    flow.wait();
    FAIL();
  } catch (const TaskError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("the task add"), HasSubstr("order_test.cpp:"),
                                             HasSubstr("the cat")));
    EXPECT_THROW(std::rethrow_if_nested(error), std::runtime_error);
  }
  flow.wait();  // called once
  EXPECT_EQ(x, 2);
}

// A callback may signal the completion of another task.
TEST(OnDone, MaySignalACompletion) {
  Runtime runtime(with(2));
  int x = 0;
  const auto hx = runtime.value("x", x);
  std::optional<Completion> token;
  std::atomic<bool> there = false;
  const auto later = codelet("later").cpu([&](Completion done, InOut<int> v) {
    ++*v;
    token = done;
    there = true;
    there.notify_all();
  });
  const auto look = codelet("look").cpu([&] { there.wait(false); });
  Flow flow(runtime);
  flow.submit(later(hx));
  flow.submit(look().on_done([&](std::exception_ptr) {
    token->done();
    token.reset();
  }));
  flow.wait();
  EXPECT_EQ(x, 1);
}

}  // namespace
}  // namespace fairlead
