// Tasks of several workers on real threads: the reserved workers run no other task in the meantime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
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

using testing::AllOf;
using testing::HasSubstr;

Config settings(int workers, const char* memory = "4MiB", const char* scheduler = "lws") {
  Config config;
  config.set("workers", workers);
  config.set("memory", memory);
  config.set("scheduler", scheduler);
  config.set("bind-threads", false);
  return config;
}

/// The workers of running bodies: their sum must not exceed the number of workers.
class Occupancy {
 public:
  explicit Occupancy(int workers) : workers_(workers) {}
  class Taken {
   public:
    Taken(Occupancy& all, unsigned width) : all_(all), width_(static_cast<int>(width)) {
      all_.tasks_.fetch_add(1);
      if (all_.taken_.fetch_add(width_) + width_ > all_.workers_) all_.too_many_.fetch_add(1);
    }
    ~Taken() {
      all_.taken_.fetch_sub(width_);
      all_.tasks_.fetch_sub(1);
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

   private:
    Occupancy& all_;
    int width_;
  };
  Taken take(unsigned width) { return {*this, width}; }
  int tasks() const { return tasks_.load(); }
  int too_many() const { return too_many_.load(); }

 private:
  const int workers_;
  std::atomic<int> taken_{0}, tasks_{0}, too_many_{0};
};

/// Adds one to each element, with as many threads as the team has.
void add_one(const Team& team, std::vector<double>& numbers) {
  std::vector<std::jthread> threads;
  const std::size_t part = (numbers.size() + team.width() - 1) / team.width();
  for (std::size_t begin = 0; begin < numbers.size(); begin += part)
    threads.emplace_back([&numbers, begin, end = std::min(begin + part, numbers.size())] {
      for (std::size_t i = begin; i < end; ++i) numbers[i] += 1;
    });
}

TEST(Span, HasAllWorkersIfItRequestsAll) {
  for (const int workers : {1, 2, 4}) {
    Runtime runtime(settings(workers));
    Occupancy occupancy(workers);
    std::vector<double> numbers(1000);
    std::vector<double> others(64);
    double whole = 0;
    std::atomic<int> alone = 0, wide = 0;
    const auto datum = runtime.value("whole", whole);
    const auto together = codelet("together")
                              .cpu([&](Team team, InOut<double>) {
                                const auto taken = occupancy.take(team.width());
                                add_one(team, numbers);
                                alone += occupancy.tasks() == 1;
                                wide += static_cast<int>(team.width()) == workers;
                              })
                              .workers(all_workers);
    const auto single = codelet("single").cpu([&](InOut<double> x) {
      const auto taken = occupancy.take(1);
      *x += 1;
    });
    Flow flow(runtime);
    for (int i = 0; i < 50; ++i) {
      flow.submit(together(datum));
      for (std::size_t k = 0; k < others.size(); ++k)
        if (i == 0) flow.submit(single(runtime.value("other " + std::to_string(k), others[k])));
    }
    flow.wait();
    EXPECT_EQ(numbers, std::vector<double>(1000, 50.0));
    EXPECT_EQ(others, std::vector<double>(64, 1.0));
    EXPECT_EQ(occupancy.too_many(), 0);
    EXPECT_EQ(alone, 50) << workers;
    EXPECT_EQ(wide, 50) << workers;
  }
}

// Some of the workers: two such tasks may run concurrently, but not three.
TEST(Span, HasTheRequestedNumberOfWorkers) {
  Runtime runtime(settings(4));
  Occupancy occupancy(4);
  std::vector<double> values(30);
  std::atomic<int> right = 0;
  const auto two = codelet("two")
                       .cpu([&](Team team, InOut<double> x) {
                         const auto taken = occupancy.take(team.width());
                         right += team.width() == 2;
                         *x += 1;
                       })
                       .workers(2);
  Flow flow(runtime);
  for (double& value : values) {
    const auto datum = runtime.value("x", value);
    for (int i = 0; i < 20; ++i) flow.submit(two(datum));
  }
  flow.wait();
  EXPECT_EQ(right, 600);
  EXPECT_EQ(values, std::vector<double>(30, 20.0));
  EXPECT_EQ(occupancy.too_many(), 0);
}

TEST(Span, IsRefusedIfItNeedsMoreWorkersThanExist) {
  Runtime runtime(settings(2));
  double x = 0;
  const auto datum = runtime.value("x", x);
  unsigned width = 0;
  const auto task = codelet("task").cpu([&](Team team, InOut<double>) { width = team.width(); });
  Flow flow(runtime);
  try {
    flow.submit(task(datum).workers(3));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("task(x) needs 3 workers at once, and there are 2"),
                                    HasSubstr("span_test.cpp"), HasSubstr("at_most(3)")));
  }
  flow.submit(task(datum).workers(at_most(3)));
  flow.wait();
  EXPECT_EQ(width, 2u);
  EXPECT_THROW(task(datum).workers(0), UsageError);
}

// The call overrides the codelet.
TEST(Span, CanBeRequestedByACall) {
  Runtime runtime(settings(3));
  double x = 0;
  const auto datum = runtime.value("x", x);
  std::vector<unsigned> widths;
  const auto task =
      codelet("task").cpu([&](Team team, InOut<double>) { widths.push_back(team.width()); }).workers(2);
  Flow flow(runtime);
  flow.submit(task(datum));
  flow.submit(task(datum).workers(1));
  flow.submit(task(datum).workers(all_workers).priority(2));
  flow.wait();
  EXPECT_THAT(widths, testing::ElementsAre(2, 1, 3));
}

TEST(Span, ReleasesItsWorkersWhenItFails) {
  for (const int workers : {1, 3}) {
    Runtime runtime(settings(workers));
    Occupancy occupancy(workers);
    double x = 0, y = 0;
    const auto broken = runtime.value("x", x), fine = runtime.value("y", y);
    const auto fails = codelet("fails")
                           .cpu([&](Team team, InOut<double>) {
                             const auto taken = occupancy.take(team.width());
                             throw std::runtime_error("it does not converge");
                           })
                           .workers(all_workers);
    const auto adds = codelet("adds").cpu([&](InOut<double> v) {
      const auto taken = occupancy.take(1);
      *v += 1;
    });
    Flow flow(runtime);
    for (int i = 0; i < 20; ++i) {
      flow.submit(fails(broken));
      for (int k = 0; k < 5; ++k) flow.submit(adds(fine));
    }
    try {
      flow.wait();
      FAIL();
    } catch (const TaskError& error) {
      EXPECT_THAT(error.what(), HasSubstr("it does not converge"));
    }
    EXPECT_EQ(y, 100);
    EXPECT_EQ(occupancy.too_many(), 0);
  }
}

// The body has returned, but the task has not finished: its workers stay reserved until then.
TEST(Span, LastsUntilItsCompletionIsSignalled) {
  for (const int workers : {1, 3}) {
    Runtime runtime(settings(workers));
    std::atomic<int> running = 0, overlaps = 0;
    double x = 0;
    std::vector<double> others(20);
    std::vector<std::jthread> threads;
    const auto whole = runtime.value("x", x);
    const auto later = codelet("later")
                           .cpu([&](Completion done, Team, InOut<double> v) {
                             running = 1;
                             threads.emplace_back([&running, done, v = &*v] {
                               std::this_thread::sleep_for(std::chrono::milliseconds(3));
                               *v += 1;
                               running = 0;
                               done.done();
                             });
                           })
                           .workers(all_workers);
    const auto adds = codelet("adds").cpu([&](InOut<double> v) {
      overlaps += running;
      *v += 1;
    });
    Flow flow(runtime);
    std::vector<Handle<double>> handles;
    for (double& other : others) handles.push_back(runtime.value("other", other));
    for (int i = 0; i < 10; ++i) {
      flow.submit(later(whole));
      for (const auto& handle : handles) flow.submit(adds(handle));
    }
    flow.wait();
    EXPECT_EQ(x, 10);
    EXPECT_EQ(others, std::vector<double>(20, 10.0));
    EXPECT_EQ(overlaps, 0);
  }
}

// The worker of an asynchronous task is free once the body has returned: a task of several workers need not wait for it.
TEST(Span, DoesNotWaitForAsynchronousTasks) {
  for (const int workers : {1, 3}) {
    Runtime runtime(settings(workers));
    double x = 0, y = 0, z = 0;
    const auto asked = runtime.value("x", x), whole = runtime.value("y", y), answer = runtime.value("z", z);
    std::mutex mutex;
    std::optional<Completion> token;
    bool is_notified = false;
    const auto ask = codelet("ask").cpu([&](Completion done, InOut<double>) {
      const std::lock_guard guard(mutex);
      std::exchange(is_notified, false) ? done.done() : void(token = done);
    });
    const auto together = codelet("together").cpu([](InOut<double> v) { *v += 1; }).workers(all_workers);
    const auto notify = codelet("notify").cpu([&](In<double>, InOut<double>) {
      const std::lock_guard guard(mutex);
      token ? token->done() : void(is_notified = true);
      token.reset();
    });
    for (int round = 0; round < 20; ++round) {
      Flow flow(runtime);
      flow.submit(ask(asked));
      while (round % 2 == 0 && workers > 1 && runtime.status().find("ask(x)") == std::string::npos)
        std::this_thread::yield();
      flow.submit(together(whole));
      flow.submit(notify(whole, answer));  // after `together`, and before the end of `ask`
      flow.wait();
    }
    EXPECT_EQ(y, 20);
  }
}

// The program's thread is a worker only while it waits; a task of all workers does not wait for it.
TEST(Span, DoesNotWaitForTheProgramsThread) {
  Runtime runtime(settings(3));
  double x = 0;
  const auto datum = runtime.value("x", x);
  std::atomic<unsigned> width = 0;
  const auto task =
      codelet("task").cpu([&](Team team, InOut<double>) { width = team.width(); }).workers(all_workers);
  Flow flow(runtime);
  flow.submit(task(datum));
  while (flow.done() != 1) std::this_thread::yield();
  EXPECT_EQ(width, 3u);
}

// A thread that waits for one task may be running another one when that finishes.
TEST(Span, IsNotKeptByTheProgramsThreadAfterItsWait) {
  for (const Workers workers : {Workers(1), Workers(2), all_workers})
    for (int round = 0; round < (tests::thread_sanitized ? 40 : 100); ++round) {
      Runtime runtime(settings(3));
      double x = 0, y = 0;
      const auto datum = runtime.value("x", x), other = runtime.value("y", y);
      const auto task = codelet("task").cpu([](InOut<double> v) { *v += 1; }).workers(workers);
      const auto first = codelet("first").cpu([](InOut<double> v) { *v += 1; });
      Flow flow(runtime);
      const Future one = flow.future(first(other));
      for (int i = 0; i < 3; ++i) flow.submit(task(datum));
      one.wait();
      // Sleeps: a thread that yields would use a core that the workers need.
      while (flow.done() != 4) std::this_thread::sleep_for(std::chrono::microseconds(20));
      EXPECT_EQ(x, 3);
    }
}

TEST(Span, DoesNotRunIfItsFlowIsCancelledWhileItGathersWorkers) {
  Runtime runtime(settings(2));
  double x = 0, y = 0, z = 0;
  const auto slow = runtime.value("x", x), whole = runtime.value("y", y), other = runtime.value("z", z);
  std::atomic<bool> begun = false, may_end = false, ran = false;
  const auto waits = codelet("waits").cpu([&](InOut<double>) {
    begun = true;
    while (!may_end) std::this_thread::yield();
  });
  const auto together = codelet("together").cpu([&](InOut<double>) { ran = true; }).workers(all_workers);
  const auto adds = codelet("adds").cpu([](InOut<double> v) { *v += 1; });
  Flow flow(runtime), cancelled(runtime);
  flow.submit(waits(slow));
  while (!begun) std::this_thread::yield();
  cancelled.submit(together(whole));
  cancelled.cancel();
  may_end = true;
  EXPECT_THROW(cancelled.wait(), TaskError);
  EXPECT_FALSE(ran);
  flow.submit(adds(other));
  flow.wait();
  EXPECT_EQ(z, 1);
}

/// As the system numbers them.
std::vector<unsigned> allowed_here() {
  std::vector<unsigned> units;
  cpu_set_t set;
  CPU_ZERO(&set);
  pthread_getaffinity_np(pthread_self(), sizeof set, &set);
  for (unsigned unit = 0; unit < CPU_SETSIZE; ++unit)
    if (CPU_ISSET(unit, &set)) units.push_back(unit);
  return units;
}

// Each worker is bound to a core; a thread that the body starts may use the cores of all reserved workers.
TEST(Span, MayUseTheCoresOfAllItsWorkers) {
  Config config;
  config.set("memory", "4MiB");
  Runtime runtime(config);
  double x = 0;
  const auto datum = runtime.value("x", x);
  std::vector<unsigned> promised, body, thread;
  std::atomic<std::size_t> widest_alone = 0;
  const auto together = codelet("together")
                            .cpu([&](Team team, InOut<double>) {
                              promised.assign(team.processors().begin(), team.processors().end());
                              body = allowed_here();
                              std::jthread([&] { thread = allowed_here(); }).join();
                            })
                            .workers(all_workers);
  const auto alone = codelet("alone").cpu(
      [&](InOut<double>) { widest_alone = std::max(widest_alone.load(), allowed_here().size()); });
  Flow flow(runtime);
  for (int i = 0; i < 10; ++i) {
    flow.submit(together(datum));
    flow.submit(alone(datum));
  }
  flow.wait();
  if (promised.empty()) GTEST_SKIP() << "workers are not bound here";
  std::ranges::sort(promised);
  EXPECT_EQ(body, promised);
  EXPECT_EQ(thread, promised);
  EXPECT_EQ(widest_alone, 1u);
}

// A wait is refused in every body, also in this one.
TEST(Span, MustNotWaitForOtherTasks) {
  Runtime runtime(settings(2));
  double x = 0;
  const auto datum = runtime.value("x", x);
  Flow flow(runtime);
  const auto adds = codelet("adds").cpu([](InOut<double> v) { *v += 1; });
  const auto waits = codelet("waits").cpu([&](InOut<double>) { flow.wait(); }).workers(all_workers);
  flow.submit(waits(datum));
  EXPECT_THROW(flow.wait(), TaskError);
  x = 0;
  const auto set = codelet("set").cpu([](Out<double> v) { *v = 1; });
  flow.submit(set(datum));
  flow.submit(adds(datum));
  flow.wait();
  EXPECT_EQ(x, 2);
}

TEST(Span, ReportsTheWorkersThatItWaitsFor) {
  Runtime runtime(settings(3));
  double x = 0, y = 0;
  const auto slow = runtime.value("slow one", x), whole = runtime.value("y", y);
  std::atomic<bool> begun = false, may_end = false;
  const auto waits = codelet("waits").cpu([&](InOut<double>) {
    begun = true;
    while (!may_end) std::this_thread::yield();
  });
  const auto together = codelet("together").cpu([](InOut<double>) {}).workers(all_workers);
  Flow flow(runtime);
  flow.submit(waits(slow));
  while (!begun) std::this_thread::yield();
  flow.submit(together(whole));
  std::string status;
  do status = runtime.status();
  while (status.find("together(y)") == std::string::npos);
  may_end = true;
  flow.wait();
  EXPECT_THAT(status, AllOf(HasSubstr("together(y), submitted at"), HasSubstr("waits for 1 of 3 workers"),
                            HasSubstr("runs waits(slow one)")));
}

}  // namespace
}  // namespace fairlead
