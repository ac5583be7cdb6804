// Durations of tasks are given, or learned from finished tasks. Of several implementations the fastest runs.
#include "engine/task_durations.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "memory/bare.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

constexpr WorkerId core{0};
constexpr Duration short_one{1'000'000}, long_one{9'000'000};

struct Learner {
  explicit Learner(engine::TaskDurations::Given given = {}, bool first_bodies = false)
      : durations(bare.topology, bare.memory, std::move(given), {}, first_bodies) {
    codelet.name = "work";
  }
  void implement_for_cores(std::initializer_list<const char*> names) {
    codelet.kinds = 0;
    for (const char* name : names) {
      Implementation one;
      one.name = name;
      codelet.implement(WorkerKind::cpu, std::move(one));
    }
    codelet.choices = 1u << static_cast<unsigned>(WorkerKind::cpu);
  }
  Task& task(Bytes bytes) {
    Task& made = bare.task(AccessMode::read, {bare.datum(bytes)});
    made.codelet = &codelet;
    made.worker = core;
    return made;
  }
  void end(Task& task, Duration duration, bool succeeded = true) {
    task.duration = duration;
    durations.over(task, succeeded);
  }

  Bare bare{64_MiB};
  CodeletInfo codelet;
  engine::TaskDurations durations;
};

}  // namespace

TEST(TaskDurations, AreLearnedFromSuccessfulTasks) {
  Learner it;
  Task& task = it.task(1_MiB);
  for (int i = 0; i < 10; ++i) it.end(task, long_one, false);
  EXPECT_FALSE(it.durations.known(task, core));
  for (int i = 0; i < 10; ++i) it.end(task, short_one);
  EXPECT_TRUE(it.durations.known(task, core));
  EXPECT_EQ(it.durations.estimate(task, core), short_one);
}

TEST(TaskDurations, DependOnTheSizeOfTheData) {
  Learner it;
  Task &small = it.task(1_MiB), &large = it.task(16_MiB);
  for (int i = 0; i < 10; ++i) {
    it.end(small, short_one);
    it.end(large, long_one);
  }
  EXPECT_EQ(it.durations.estimate(small, core), short_one);
  EXPECT_EQ(it.durations.estimate(large, core), long_one);
}

TEST(TaskDurations, ThatAreGivenAreNotLearned) {
  Learner it([](const Task&, WorkerId) { return long_one; });
  Task& task = it.task(1_MiB);
  EXPECT_TRUE(it.durations.known(task, core));
  for (int i = 0; i < 10; ++i) it.end(task, short_one);
  EXPECT_EQ(it.durations.estimate(task, core), long_one);
}

TEST(TaskDurations, SelectTheFastestOfSeveralImplementations) {
  Learner it;
  it.implement_for_cores({"slow", "fast"});
  Task& task = it.task(1_MiB);
  int fast = 0;
  for (int i = 0; i < 100; ++i) {
    const unsigned chosen = it.durations.choose(task);
    fast += chosen == 1;
    it.end(task, chosen == 1 ? short_one : long_one);
  }
  EXPECT_GE(fast, 90);
  EXPECT_EQ(it.durations.estimate(task, core), short_one);
  static_cast<void>(it.durations.choose(task));
  it.durations.returned(task);  // it did not start
  EXPECT_EQ(task.implementation, no_implementation);
}

TEST(TaskDurations, AreThoseOfTheFirstImplementationIfItMustRun) {
  Learner it({}, true);
  it.implement_for_cores({"slow", "fast"});
  Task& task = it.task(1_MiB);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(it.durations.choose(task), 0u);
    ASSERT_EQ(task.implementation, 0);
    it.end(task, long_one);
  }
  EXPECT_EQ(it.durations.estimate(task, core), long_one);
}

}  // namespace fairlead::tests
