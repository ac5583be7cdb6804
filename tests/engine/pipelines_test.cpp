// The counts of pipelines match the tasks in them, whatever happens to the tasks.
#include "engine/pipelines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"

namespace fairlead::engine {
namespace {

constexpr WorkerId first{0}, second{1};
constexpr Duration nothing{};

void expect_consistent(const Pipelines& pipelines) {
  std::size_t tasks = 0, unadmitted = 0;
  for (const Pipeline& pipeline : pipelines.all()) {
    std::size_t picked = 0, staged = 0;
    for (std::size_t i = 0; i < pipeline.tasks.size(); ++i) {
      picked += pipeline.tasks[i].state == TaskState::picked;
      staged += pipeline.tasks[i].state == TaskState::staged;
    }
    EXPECT_EQ(pipeline.unadmitted, picked);
    EXPECT_EQ(pipeline.staged, staged);
    tasks += pipeline.tasks.size();
    unadmitted += picked;
  }
  EXPECT_EQ(pipelines.tasks(), tasks);
  EXPECT_EQ(pipelines.unadmitted(), unadmitted);
}

}  // namespace

TEST(Pipelines, CountTheirTasks) {
  Random random(7);
  std::vector<Task> tasks(24);
  Pipelines pipelines(3);
  for (WorkerId worker : {first, second}) pipelines.arrived(worker, Time{}, nothing);
  for (int step = 0; step < 2000; ++step) {
    Task& task = tasks[random.below(tasks.size())];
    const auto worker = static_cast<WorkerId>(random.below(3));
    const std::uint64_t what = random.below(4);
    switch (task.state) {
      case TaskState::waiting:
        pipelines.pick(task, worker);
        break;
      case TaskState::picked:
      case TaskState::admitted:
        if (what == 0) {
          pipelines.take_out(task);
          task.state = TaskState::waiting;
        } else if (what == 1) {
          pipelines.move(task, worker);
        } else if (task.state == TaskState::admitted) {
          pipelines.stage(task, Time{step}, nothing);
        } else {
          pipelines.admitted(task);
          task.state = TaskState::admitted;
        }
        break;
      default:
        if (what == 0) {
          pipelines.unstage(task);
        } else {
          pipelines.over(task, Time{step}, nothing);
          task.state = TaskState::waiting;
        }
    }
    expect_consistent(pipelines);
  }
}

TEST(Pipelines, MeasureTheIdleTimeOfAWorkerAndItsReason) {
  Pipelines pipelines(1);
  Task task, next;
  EXPECT_TRUE(pipelines.arrived(first, Time{100}, nothing));
  pipelines.pick(task, first);
  pipelines.pick(next, first);
  pipelines.admitted(task);
  task.state = TaskState::admitted;
  const auto before = pipelines.stage(task, Time{150}, nothing);
  EXPECT_EQ(before.duration, Duration(50));
  EXPECT_FALSE(before.for_data);
  EXPECT_TRUE(pipelines.over(task, Time{200}, nothing));  // the other task waits for its data
  pipelines.admitted(next);
  next.state = TaskState::admitted;
  const auto after = pipelines.stage(next, Time{230}, Duration(10));  // for 10 the worker ran another task
  EXPECT_EQ(after.duration, Duration(20));
  EXPECT_TRUE(after.for_data);
  EXPECT_EQ(pipelines[first].waiting_for_tasks, Duration(50));
  EXPECT_EQ(pipelines[first].waiting_for_data, Duration(20));
}

// A task is returned before it started: the idle time before the launch is counted once.
TEST(Pipelines, CountIdleTimeOnce) {
  Pipelines pipelines(1);
  Task task;
  pipelines.arrived(first, Time{100}, nothing);
  pipelines.pick(task, first);
  pipelines.admitted(task);
  task.state = TaskState::admitted;
  EXPECT_EQ(pipelines.stage(task, Time{150}, nothing).since, Time{100});
  pipelines.unstage(task);
  const auto after = pipelines.stage(task, Time{230}, nothing);
  EXPECT_EQ(after.since, Time{150});
  EXPECT_EQ(after.duration, Duration(80));
  EXPECT_EQ(pipelines[first].waiting_for_tasks, Duration(130));
}

TEST(Pipelines, ReportThatAWorkerLeftWithAStagedTask) {
  Pipelines pipelines(2);
  Task task;
  pipelines.arrived(first, Time{}, nothing);
  EXPECT_FALSE(pipelines.left_behind());
  pipelines.pick(task, first);
  pipelines.admitted(task);
  task.state = TaskState::admitted;
  pipelines.stage(task, Time{}, nothing);
  pipelines.left(first);
  EXPECT_TRUE(pipelines.left_behind());
  pipelines.over(task, Time{}, nothing);
  EXPECT_FALSE(pipelines.left_behind());
  EXPECT_FALSE(pipelines.arrived(first, Time{}, nothing));  // it was present already
}

TEST(Pipelines, CountAWorkerOfASpanAsBusy) {
  Pipelines pipelines(2);
  pipelines.arrived(first, Time{}, nothing);
  pipelines.account_span_help(first, Duration(60), Time{100}, nothing);
  EXPECT_EQ(pipelines[first].busy, Duration(60));
  EXPECT_EQ(pipelines[first].waiting_for_tasks, Duration(40));
  pipelines.account_span_help(second, Duration(60), Time{100}, nothing);  // it was absent
  EXPECT_EQ(pipelines[second].busy, nothing);
}

}  // namespace fairlead::engine
