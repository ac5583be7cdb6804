// The way of a task from the policy to a pipeline, its admission to memory, and its launch on a worker.
#include "engine/dispatcher.hpp"

#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/parts.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

engine::Options pipelines_of(std::size_t depth) {
  engine::Options options;
  options.pipeline_depth = depth;
  options.check_invariants = true;
  return options;
}

/// CPU workers with RAM.
struct Dispatching : EngineParts {
  explicit Dispatching(std::size_t workers, Bytes ram = 8_MiB, std::size_t depth = 4)
      : EngineParts(out_of_core_topology(workers, ram, 1e9, Duration{}), Notifications::none,
                    pipelines_of(depth)) {}
  /// Needs no copy.
  Task& writer(Bytes bytes = 1_MiB) { return task(AccessMode::write, {datum(bytes)}); }
  Task& reader(Bytes bytes = 1_MiB) { return task(AccessMode::read, {datum(bytes)}); }
  std::size_t has(WorkerId worker) const { return pipelines[worker].tasks.size(); }
};

constexpr WorkerId worker_0{0}, worker_1{1};

}  // namespace

TEST(Dispatcher, FillsEachPipelineToItsDepth) {
  Dispatching it(2, 16_MiB, 3);
  for (int i = 0; i < 8; ++i) it.dispatcher.ready(it.writer(), it.out);
  EXPECT_EQ(it.dispatcher.held_by_policy(), 8u);
  it.go_on();
  EXPECT_EQ(it.has(worker_0), 3u);
  EXPECT_EQ(it.has(worker_1), 3u);
  EXPECT_EQ(it.dispatcher.held_by_policy(), 2u);
}

TEST(Dispatcher, LaunchesATaskWhenItsDataHaveArrived) {
  Dispatching it(1);
  Task &first = it.reader(), &second = it.writer();
  it.ready({&first, &second});
  EXPECT_EQ(first.state, TaskState::admitted);
  EXPECT_EQ(it.world.notes, (Notes{"launch 2 on 0"}));  // it waits for nothing
  it.land();
  EXPECT_EQ(it.world.notes, (Notes{"launch 2 on 0", "launch 1 on 0"}));
  EXPECT_EQ(first.state, TaskState::staged);
}

TEST(Dispatcher, GivesNoTaskToAnAbsentWorker) {
  Dispatching it(2);
  it.pipelines.left(worker_1);
  for (int i = 0; i < 3; ++i) it.dispatcher.ready(it.writer(), it.out);
  it.go_on();
  EXPECT_EQ(it.has(worker_0), 3u);
  EXPECT_EQ(it.has(worker_1), 0u);
}

TEST(Dispatcher, RetriesTasksThatWaitForMemoryWhenMemoryIsFreed) {
  Dispatching it(1, 2_MiB);
  Task &first = it.reader(2_MiB), &second = it.reader(2_MiB);
  it.ready({&first, &second});
  it.land();
  EXPECT_EQ(second.state, TaskState::picked);
  it.over(first);
  it.land();
  EXPECT_EQ(second.state, TaskState::staged);
}

// Further tasks would wait behind them as well.
TEST(Dispatcher, PicksNoMoreTasksForAWorkerWhoseTasksWaitForMemory) {
  Dispatching it(1, 2_MiB, 8);
  for (int i = 0; i < 4; ++i) it.dispatcher.ready(it.writer(2_MiB), it.out);
  it.go_on();
  EXPECT_EQ(it.pipelines.unadmitted(), 1u);
  EXPECT_EQ(it.dispatcher.held_by_policy(), 2u);
}

// Tasks behind a commutative task that waits for its token may not need its data.
TEST(Dispatcher, AdmitsTasksBehindATaskThatWaitsOnlyForItsToken) {
  Dispatching it(1, 8_MiB, 8);
  const DatumId sum = it.datum(1_MiB);
  Task &first = it.task(AccessMode::commutative, {sum}), &second = it.task(AccessMode::commutative, {sum});
  Task& other = it.writer();
  it.ready({&first, &second, &other});
  EXPECT_EQ(second.state, TaskState::picked);
  EXPECT_EQ(other.state, TaskState::staged);
}

TEST(Dispatcher, OverrulesThePolicyWhenNothingElseMakesProgress) {
  Dispatching it(2);
  it.noting.gives = false;
  Task &first = it.writer(), &second = it.writer();
  it.ready({&first, &second});
  EXPECT_EQ(first.state, TaskState::staged);  // the policy was overruled
  EXPECT_EQ(it.dispatcher.held_by_policy(), 1u);
  it.over(first);
  EXPECT_EQ(second.state, TaskState::staged);
}

TEST(Dispatcher, ReportsAPolicyThatPicksNoTask) {
  Dispatching it(2);
  Task& task = it.writer();
  it.codelet.kinds = 2;  // no worker is of that kind
  it.dispatcher.ready(task, it.out);
  EXPECT_THROW(it.go_on(), Error);
}

// Otherwise its data would be placed on another node.
TEST(Dispatcher, WaitsForAnAcceleratorThatIsStarting) {
  Topology machine = out_of_core_topology(1, 8_MiB, 1e9, Duration{});
  add_device(machine, {.name = "device", .kind = WorkerKind::emulated, .capacity = 8_MiB});
  EngineParts it(machine);
  it.pipelines.left(worker_1);
  it.noting.gives = false;
  struct ForDevice final : Policy {
    void ready(Task& task, WorkerId) override { held = &task; }
    Task* pick(WorkerId worker, bool) override {
      return worker == worker_1 ? std::exchange(held, nullptr) : nullptr;
    }
    Task* take_any(WorkerId) override { return std::exchange(held, nullptr); }
    Task* held = nullptr;
  };
  it.policy.replace(std::make_unique<ForDevice>());
  it.codelet.kinds = 0b11;
  Task& task = it.task(AccessMode::write, {it.datum(1_MiB)});
  it.ready(task);
  EXPECT_EQ(task.state, TaskState::ready);
  it.dispatcher.worker_arrived(worker_1);  // and it has left again: no worker is awaited now
  it.go_on();
  EXPECT_EQ(task.state, TaskState::staged);
  EXPECT_EQ(task.worker, worker_0);
}

// Behind another task it may use half of the memory, as the first of a pipeline all of it.
TEST(Dispatcher, AnIdleWorkerTakesATaskThatWaitsForMemoryBehindAnother) {
  Dispatching it(2, 8_MiB);
  it.pipelines.left(worker_1);
  Task &small = it.writer(1_MiB), &large = it.writer(6_MiB);
  it.ready({&small, &large});
  ASSERT_EQ(large.state, TaskState::picked);
  it.pipelines.arrived(worker_1, Time{}, Duration{});
  it.go_on();
  EXPECT_EQ(large.worker, worker_1);
  EXPECT_EQ(large.state, TaskState::staged);
}

TEST(Dispatcher, AnIdleWorkerTakesAStagedTaskThatAnotherWorkerHasNotStarted) {
  Dispatching it(2);
  it.pipelines.left(worker_1);
  Task &first = it.writer(), &second = it.writer();
  it.ready({&first, &second});
  it.world.notes.clear();
  it.pipelines.arrived(worker_1, Time{}, Duration{});
  it.go_on();
  EXPECT_EQ(it.world.notes, (Notes{"recall 2 on 0"}));
  it.go_on();
  EXPECT_EQ(it.world.notes.size(), 1u);  // one at a time
  it.dispatcher.returned(second);
  it.go_on();
  EXPECT_EQ(it.world.notes, (Notes{"recall 2 on 0", "launch 2 on 1"}));
  EXPECT_EQ(it.noting.notes, (Notes{"ready 1", "ready 2"}));  // the policy is not notified of the move
}

// One task waits for memory and one for a copy; the launched one is recalled from the world.
TEST(Dispatcher, TasksThatALostWorkerHasNotStartedReturnToThePolicyAndReleaseTheirMemory) {
  Dispatching it(2, 4_MiB);
  it.pipelines.left(worker_1);
  Task &launched = it.writer(1_MiB), &coming = it.reader(1_MiB), &waiting = it.reader(4_MiB);
  it.ready({&launched, &coming, &waiting});
  ASSERT_EQ(launched.state, TaskState::staged);
  ASSERT_EQ(coming.state, TaskState::admitted);
  ASSERT_EQ(waiting.state, TaskState::picked);
  it.noting.notes.clear();
  it.world.notes.clear();
  it.dispatcher.worker_lost(worker_0, it.out);
  EXPECT_EQ(it.noting.notes, (Notes{"lost 0", "returned 2", "returned 3"}));
  EXPECT_EQ(it.dispatcher.held_by_policy(), 2u);
  it.go_on();
  EXPECT_EQ(it.world.notes, (Notes{"recall 1 on 0"}));
  it.dispatcher.returned(launched);  // to no worker: worker 1 is absent, too
  EXPECT_EQ(it.noting.notes.back(), "returned 1");
  EXPECT_EQ(it.pipelines.tasks(), 0u);
  it.pipelines.arrived(worker_1, Time{}, Duration{});
  it.land();
  for (Task* task : {&coming, &waiting, &launched}) {
    it.land();
    EXPECT_EQ(task->worker, worker_1);
    it.over(*task);
  }
  EXPECT_TRUE(it.take_completed().empty());
}

TEST(Dispatcher, AnotherWorkerGetsTheTasksThatALostWorkerReturns) {
  Dispatching it(2);
  it.pipelines.left(worker_1);
  Task& task = it.writer();
  it.ready(task);
  it.pipelines.arrived(worker_1, Time{}, Duration{});
  it.dispatcher.worker_lost(worker_0, it.out);
  it.go_on();
  it.dispatcher.returned(task);
  it.go_on();
  EXPECT_EQ(it.world.notes, (Notes{"launch 1 on 0", "recall 1 on 0", "launch 1 on 1"}));
}

TEST(Dispatcher, ReportsThatNoWorkerIsLeftForTheReadyTasks) {
  Dispatching it(2);
  for (const WorkerId worker : {worker_0, worker_1}) it.dispatcher.worker_lost(worker, it.out);
  it.dispatcher.ready(it.writer(), it.out);
  try {
    it.go_on();
    FAIL() << "the run blocks for ever";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "1 tasks are ready, and no worker that could run them is left: lost are 0, 1");
  }
}

TEST(Dispatcher, ATaskThatReadsAPoisonedDatumIsCancelled) {
  Dispatching it(1);
  const DatumId a = it.datum(1_MiB);
  Task &writes = it.task(AccessMode::write, {a}), &reads = it.task(AccessMode::read, {a});
  it.ready(writes);
  it.over(writes, false);
  it.noting.notes.clear();
  it.ready(reads);
  EXPECT_EQ(it.take_completed(), std::vector{&reads});
  EXPECT_TRUE(reads.cancelled);
  EXPECT_TRUE(it.noting.notes.empty());
}

TEST(Dispatcher, TasksOfACancelledFlowEndWhenThePolicyPicksThem) {
  Dispatching it(1, 8_MiB, 1);
  Task &running = it.writer(), &task = it.writer();
  it.ready({&running, &task});
  it.cancel(task);
  it.over(running);
  EXPECT_EQ(it.take_completed(), std::vector{&task});
  EXPECT_EQ(it.pipelines.tasks(), 0u);
  EXPECT_EQ(it.dispatcher.held_by_policy(), 0u);
}

// It is queued like a task (rule 9): later tasks do not take the memory that it waits for.
TEST(Dispatcher, AHoldWaitsForMemoryInOrder) {
  Dispatching it(1, 2_MiB);
  Task &running = it.reader(2_MiB), &task = it.reader(2_MiB);
  Task& hold = it.task(AccessMode::read, {it.datum(2_MiB)}, TaskRole::hold);
  it.ready(running);
  it.land();
  it.ready({&hold, &task});
  it.over(running);
  it.land();
  EXPECT_EQ(hold.state, TaskState::staged);
  EXPECT_EQ(task.state, TaskState::picked);
}

TEST(Dispatcher, ALostWriteStopsTheRunAndIsReportedOnce) {
  Dispatching it(1, 1_MiB);
  Task& task = it.writer();
  it.ready(task);
  it.over(task);
  it.ready(it.reader());  // the result must be written back first
  while (!it.out.copies.empty()) {
    for (memory::Copy* copy : std::exchange(it.out.copies, {})) {
      copy->error_number = 28;
      it.memory.landed(*copy, false, it.effects);
    }
    it.go_on();
  }
  EXPECT_TRUE(it.out.stopped);
  EXPECT_EQ(it.stop.error(), 28);
  EXPECT_EQ(it.stop.datum(), task.accesses()[0].datum);
  EXPECT_EQ(it.take_completed().size(), 1u);  // no task starts any more
  it.out.stopped = false;
  it.go_on();
  EXPECT_FALSE(it.out.stopped);
}

// Into space that no task waits for (rule 6).
TEST(Dispatcher, PrefetchesForTheNextTasksWhenPipelinesAreFull) {
  struct Ahead final : Policy {
    void ready(Task& task, WorkerId) override { held.push_back(&task); }
    Task* pick(WorkerId, bool) override {
      if (held.empty()) return nullptr;
      Task* const task = held.front();
      held.erase(held.begin());
      return task;
    }
    std::size_t upcoming(WorkerId, std::span<DatumId> out) override {
      out[0] = held.front()->accesses()[0].datum;
      return 1;
    }
    std::vector<Task*> held;
  };
  Dispatching it(1, 8_MiB, 1);
  it.policy.replace(std::make_unique<Ahead>());
  Task &running = it.writer(), &next = it.reader();
  it.ready(running);
  EXPECT_TRUE(it.out.copies.empty());
  it.ready(next);
  ASSERT_EQ(it.out.copies.size(), 1u);
  EXPECT_EQ(it.out.copies[0]->cause, memory::Cause::prefetch);
  EXPECT_EQ(it.out.copies[0]->datum, next.accesses()[0].datum);
}

TEST(Dispatcher, PrefetchesWhenAWorkerHasATaskIfThePolicyPicksLate) {
  struct Late final : Policy {
    explicit Late(bool is_late) : picks_late_(is_late) {}
    void ready(Task& task, WorkerId) override { held.push_back(&task); }
    Task* pick(WorkerId, bool) override {
      return held.size() == 1 ? std::exchange(held, {}).front() : nullptr;  // declines while it has two
    }
    bool keeps_pipelines_short() const override { return picks_late_; }
    std::size_t upcoming(WorkerId, std::span<DatumId> out) override {
      out[0] = held.front()->accesses()[0].datum;
      return 1;
    }
    bool picks_late_;
    std::vector<Task*> held;
  };
  for (const bool is_late : {true, false}) {
    Dispatching it(1, 8_MiB, 3);
    auto made = std::make_unique<Late>(is_late);
    Late& late = *made;
    it.policy.replace(std::move(made));
    it.ready(it.writer());
    Task& next = it.reader();
    late.held.push_back(&it.reader());  // so that the policy declines
    it.ready(next);
    EXPECT_EQ(it.out.copies.size(), is_late ? 1u : 0u);
    for (const memory::Copy* copy : it.out.copies) EXPECT_EQ(copy->cause, memory::Cause::prefetch);
    late.held.clear();
  }
}

}  // namespace fairlead::tests
