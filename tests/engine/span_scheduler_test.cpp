// The steps by which a task gets several workers: which tasks are recalled, which workers are reserved, and that all of
// them are released afterwards, however the task ends. The effects in runs are tested in span/.
#include "engine/span_scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "engine/parts.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

/// CPU workers with RAM.
struct GatheringParts : EngineParts {
  explicit GatheringParts(std::size_t workers) : EngineParts(workers, 32_MiB) {}
  Task& narrow() { return task(AccessMode::write, {datum(1_MiB)}); }
  Task& wide(std::uint16_t workers) {
    Task& made = narrow();
    made.workers_wanted = workers;
    return made;
  }
  /// These workers are absent, so that others get the tasks.
  void without(std::initializer_list<WorkerId> workers, auto&& f) {
    for (const WorkerId worker : workers) pipelines.left(worker);
    f();
    for (const WorkerId worker : workers) pipelines.arrived(worker, Time{}, Duration{});
  }
  void give_back(Task& task) {
    dispatcher.returned(task);
    go_on();
  }
  void refuse_recall(WorkerId worker) {
    pipelines.answered(worker);
    go_on();
  }
  std::size_t aside() const {
    return static_cast<std::size_t>(std::ranges::count_if(pipelines.all(), &engine::Pipeline::aside));
  }
  Notes take_notes() { return std::exchange(world.notes, {}); }
};

constexpr WorkerId gather_0{0}, gather_1{1}, gather_2{2};

}  // namespace

TEST(GatheringStep, IdleWorkersAreGatheredBeforeTheTaskIsLaunched) {
  GatheringParts it(3);
  Task& wide = it.wide(2);
  it.ready(wide);
  EXPECT_EQ(it.take_notes(), (Notes{"gathered 1 on 0 1", "launch 1 on 0"}));
  EXPECT_EQ(wide.width, 2);
  EXPECT_EQ(it.aside(), 2u);
  it.over(wide);
  EXPECT_EQ(it.take_notes(), (Notes{"dissolved 0 1"}));
  EXPECT_EQ(it.aside(), 0u);
  EXPECT_FALSE(it.gathering.any());
}

TEST(GatheringStep, ATaskOfANodeWithoutWorkersIsUnrunnable) {
  GatheringParts it(2);
  Task &runs = it.narrow(), &staged = it.narrow(), &gathers = it.wide(2);
  it.without({gather_1}, [&] { it.ready({&runs, &staged}); });
  it.ready(gathers);
  ASSERT_EQ(it.gathering.gathering().task, &gathers);
  EXPECT_EQ(it.gathering.take_unrunnable(), nullptr);
  it.pipelines.lost(gather_1);
  EXPECT_EQ(it.gathering.take_unrunnable(), nullptr);  // one is left
  it.pipelines.lost(gather_0);
  EXPECT_EQ(it.gathering.take_unrunnable(), &gathers);
  EXPECT_EQ(it.gathering.take_unrunnable(), nullptr);
  EXPECT_EQ(it.aside(), 0u);
  EXPECT_FALSE(it.gathering.any());
}

TEST(GatheringStep, ATaskGetsAtMostAllWorkers) {
  GatheringParts it(2);
  Task& wide = it.wide(100);
  it.ready(wide);
  EXPECT_EQ(wide.width, 2);
  EXPECT_EQ(it.take_notes(), (Notes{"gathered 1 on 0 1", "launch 1 on 0"}));
}

// The first task of worker 0 counts as running.
TEST(GatheringStep, UnstartedTasksAreRecalledAndRunningTasksAreAwaited) {
  GatheringParts it(2);
  Task &runs = it.narrow(), &staged = it.narrow(), &wide = it.wide(2);
  it.without({gather_1}, [&] { it.ready({&runs, &staged}); });
  it.take_notes();
  it.ready(wide);
  EXPECT_EQ(it.gathering.gathering().task, &wide);
  EXPECT_EQ(it.take_notes(), (Notes{"recall 2 on 0"}));
  it.give_back(staged);  // no worker may take it now
  EXPECT_EQ(staged.state, TaskState::admitted);
  EXPECT_TRUE(it.take_notes().empty());
  it.over(runs);
  EXPECT_EQ(it.take_notes(), (Notes{"gathered 3 on 0 1", "launch 3 on 0"}));
  it.over(wide);
  EXPECT_EQ(staged.state, TaskState::staged);
  it.over(staged);
  EXPECT_FALSE(it.gathering.any());
}

TEST(GatheringStep, ATaskThatStartsBeforeItsRecallIsAwaited) {
  GatheringParts it(2);
  Task &runs = it.narrow(), &begun = it.narrow(), &wide = it.wide(2);
  it.without({gather_1}, [&] { it.ready({&runs, &begun}); });
  it.ready(wide);
  it.over(runs);
  it.refuse_recall(gather_0);
  EXPECT_EQ(it.gathering.gathering().task, &wide);
  it.over(begun);
  EXPECT_EQ(it.gathering.gathering().task, nullptr);
  EXPECT_EQ(wide.state, TaskState::staged);
}

// Otherwise each could hold workers that the other waits for.
TEST(GatheringStep, OneTaskGathersAtATimeOldestFirst) {
  GatheringParts it(3);
  Task &runs = it.narrow(), &first = it.wide(3), &second = it.wide(2);
  it.ready(runs);
  it.ready({&first, &second});
  EXPECT_EQ(it.gathering.gathering().task, &first);
  EXPECT_EQ(it.gathering.waiting(), (std::deque<Task*>{&second}));
  it.over(runs);
  EXPECT_EQ(first.state, TaskState::staged);
  EXPECT_EQ(it.gathering.gathering().task, nullptr);  // its workers are reserved for the first
  it.over(first);
  EXPECT_EQ(second.state, TaskState::staged);
}

TEST(GatheringStep, TasksGoToWorkersThatAreNotReserved) {
  GatheringParts it(3);
  Task& wide = it.wide(2);
  it.ready(wide);
  Task* const narrow[] = {&it.narrow(), &it.narrow()};
  it.ready({narrow[0], narrow[1]});
  for (const Task* task : narrow) {
    EXPECT_EQ(task->worker, gather_2);
    EXPECT_EQ(task->state, TaskState::staged);
  }
}

// Its copy was in flight when its worker was reserved.
TEST(GatheringStep, ATaskWhoseDataArriveAtAReservedWorkerIsPutOff) {
  GatheringParts it(2);
  Task& late = it.task(AccessMode::read, {it.datum(1_MiB)});
  it.ready(late);
  Task& wide = it.wide(2);
  it.ready(wide);
  it.take_notes();
  ASSERT_EQ(it.aside(), 2u);
  it.land();
  EXPECT_TRUE(it.take_notes().empty());
  EXPECT_EQ(late.state, TaskState::admitted);
  it.over(wide);
  EXPECT_EQ(late.state, TaskState::staged);
  EXPECT_FALSE(it.gathering.any());
}

// The threads of the task's library exist there already.
TEST(GatheringStep, TheNextTaskHasTheSameLeader) {
  GatheringParts it(3);
  Task &first = it.wide(3), &second = it.wide(3);
  it.without({gather_0, gather_2}, [&] { it.ready(first); });
  ASSERT_EQ(first.worker, gather_1);
  it.over(first);
  it.take_notes();
  it.ready(second);
  EXPECT_EQ(it.take_notes(), (Notes{"gathered 2 on 1 0 2", "launch 2 on 1"}));
}

TEST(GatheringStep, ATaskOfACancelledFlowEndsAndReleasesItsWorkers) {
  GatheringParts it(3);
  Task &runs = it.narrow(), &gathers = it.wide(3), &waits = it.wide(2);
  it.ready(runs);
  it.ready({&gathers, &waits});
  it.take_notes();
  ASSERT_EQ(it.aside(), 3u);
  it.cancel(gathers);
  it.cancel(waits);
  it.go_on();
  EXPECT_EQ(it.take_completed().size(), 2u);
  EXPECT_EQ(it.take_notes().size(), 1u);  // the workers are released
  EXPECT_EQ(it.aside(), 0u);
  EXPECT_FALSE(it.gathering.any());
}

// The leader leaves before it has started the task.
TEST(GatheringStep, ATaskWhoseLeaderHasLeftGathersAgain) {
  GatheringParts it(2);
  Task& wide = it.wide(2);
  it.ready(wide);
  it.take_notes();
  it.pipelines.left(gather_0);
  it.go_on();
  EXPECT_EQ(it.take_notes(), (Notes{"recall 1 on 0"}));
  it.give_back(wide);
  EXPECT_EQ(it.take_notes(), (Notes{"dissolved 0 1", "gathered 1 on 1 0", "launch 1 on 1"}));
}

TEST(GatheringStep, ReservedWorkersCountAsBusyWithTheTask) {
  GatheringParts it(2);
  Task& wide = it.wide(2);
  it.ready(wide);
  wide.duration = Duration(100);
  it.view.advance(Time{} + Duration(100));
  it.over(wide);
  for (const engine::Pipeline& pipeline : it.pipelines.all()) EXPECT_EQ(pipeline.busy, Duration(100));
}

}  // namespace fairlead::tests
