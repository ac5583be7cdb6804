// How far the submission of a flow runs ahead of execution.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace fairlead {
namespace {

Config window_of(std::size_t tasks, std::size_t workers) {
  Config config;
  config.set("workers", workers);
  config.set("memory", "16MiB");
  config.set("scheduler", "lws");
  if (tasks != 0) config.set("window", tasks);
  return config;
}

/// Submits `tasks` tasks; returns the largest number of unfinished tasks after a submission.
template <class Call>
std::int64_t farthest_ahead(Flow& flow, const std::atomic<std::int64_t>& done, std::int64_t tasks,
                            Call&& call) {
  std::int64_t farthest = 0;
  for (std::int64_t i = 0; i < tasks; ++i) {
    flow.submit(call(i));
    farthest = std::max(farthest, i + 1 - done.load());
  }
  flow.wait();
  EXPECT_EQ(done.load(), tasks);
  return farthest;
}

TEST(SubmissionWindow, KeepsDescriptorsInTheCacheOfOneWorker) {
  Runtime runtime(window_of(0, 1));
  std::atomic<std::int64_t> done = 0;
  const auto count = codelet("count").cpu([&] { ++done; });
  Flow flow(runtime);
  const std::int64_t farthest = farthest_ahead(flow, done, 10'000, [&](std::int64_t) { return count(); });
  EXPECT_GE(farthest, 200);  // not each by itself: that would cost more
  EXPECT_LE(farthest, 256);
}

TEST(SubmissionWindow, LimitsChainsToo) {
  Runtime runtime(window_of(0, 1));
  std::atomic<std::int64_t> done = 0;
  std::int64_t last = 0;
  const auto x = runtime.value("x", last);
  const auto next = codelet("next").cpu([&](InOut<std::int64_t> at, std::int64_t i) {
    EXPECT_EQ(*at, i);
    *at = i + 1;
    ++done;
  });
  Flow flow(runtime);
  EXPECT_LE(farthest_ahead(flow, done, 5000, [&](std::int64_t i) { return next(x, i); }), 256);
}

TEST(SubmissionWindow, ASmallerSettingApplies) {
  Runtime runtime(window_of(10, 1));
  std::atomic<std::int64_t> done = 0;
  const auto count = codelet("count").cpu([&] { ++done; });
  Flow flow(runtime);
  EXPECT_LE(farthest_ahead(flow, done, 1000, [&](std::int64_t) { return count(); }), 10);
}

// With several workers, the tasks ahead may be the only work for another worker.
TEST(SubmissionWindow, SeveralWorkersUseTheConfiguredWindow) {
  Runtime runtime(window_of(1000, 2));
  std::atomic<std::int64_t> done = 0;
  std::atomic<bool> go_on = false;
  std::int64_t value = 0;
  const auto x = runtime.value("x", value);
  const auto next = codelet("next").cpu([&](InOut<std::int64_t> at) {
    go_on.wait(false);
    ++*at;
    ++done;
  });
  Flow flow(runtime);
  for (int i = 0; i < 999; ++i) flow.submit(next(x));
  EXPECT_EQ(done.load(), 0);
  go_on = true;
  go_on.notify_all();
  flow.wait();
  EXPECT_EQ(value, 999);
}

// The application cannot release its holds while it submits, so all tasks that wait for them may be
// submitted.
TEST(SubmissionWindow, DoesNotWaitForTasksBlockedByTheApplication) {
  Runtime runtime(window_of(0, 1));
  double value = 1;
  const auto x = runtime.value("x", value);
  const auto add = codelet("add").cpu([](InOut<double> at) { *at += 1; });
  const auto other = codelet("other").cpu([] {});
  Flow flow(runtime);
  {
    const auto held = flow.acquire(update(x));
    for (int i = 0; i < 1000; ++i) {
      flow.submit(add(x));
      flow.submit(other());
    }
    EXPECT_EQ(held.get<0>(), 1);
  }
  flow.wait();
  EXPECT_EQ(value, 1001);
}

}  // namespace
}  // namespace fairlead
