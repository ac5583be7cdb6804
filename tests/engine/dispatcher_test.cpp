// From the policy into pipelines, from there into memory, and on to workers: who gets which task, and when.
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

/// Cores beside RAM.
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

TEST(Dispatcher, GivesEachWorkerAsManyTasksAsItsPipelineTakes) {
  Dispatching it(2, 16_MiB, 3);
  for (int i = 0; i < 8; ++i) it.dispatcher.ready(it.writer(), it.out);
  EXPECT_EQ(it.dispatcher.held_by_policy(), 8u);
  it.go_on();
  EXPECT_EQ(it.has(worker_0), 3u);
  EXPECT_EQ(it.has(worker_1), 3u);
  EXPECT_EQ(it.dispatcher.held_by_policy(), 2u);
}

TEST(Dispatcher, LaunchesATaskWhenItsDataAreThere) {
  Dispatching it(1);
  Task &first = it.reader(), &second = it.writer();
  it.ready({&first, &second});
  EXPECT_EQ(first.state, TaskState::admitted);
  EXPECT_EQ(it.world.notes, (Notes{"launch 2 on 0"}));  // it waits for nothing
  it.land();
  EXPECT_EQ(it.world.notes, (Notes{"launch 2 on 0", "launch 1 on 0"}));
  EXPECT_EQ(first.state, TaskState::staged);
}

TEST(Dispatcher, GivesNothingToAWorkerThatIsNotThere) {
  Dispatching it(2);
  it.pipelines.left(worker_1);
  for (int i = 0; i < 3; ++i) it.dispatcher.ready(it.writer(), it.out);
  it.go_on();
  EXPECT_EQ(it.has(worker_0), 3u);
  EXPECT_EQ(it.has(worker_1), 0u);
}

TEST(Dispatcher, AsksWhoWaitsForMemoryAgainWhenThereIsSome) {
  Dispatching it(1, 2_MiB);
  Task &first = it.reader(2_MiB), &second = it.reader(2_MiB);
  it.ready({&first, &second});
  it.land();
  EXPECT_EQ(second.state, TaskState::picked);
  it.over(first);
  it.land();
  EXPECT_EQ(second.state, TaskState::staged);
}

// What more it could look at would wait behind them, too.
TEST(Dispatcher, TakesNoMoreFromThePolicyForAWorkerWhoseTasksWaitForMemory) {
  Dispatching it(1, 2_MiB, 8);
  for (int i = 0; i < 4; ++i) it.dispatcher.ready(it.writer(2_MiB), it.out);
  it.go_on();
  EXPECT_EQ(it.pipelines.unadmitted(), 1u);
  EXPECT_EQ(it.dispatcher.held_by_policy(), 2u);
}

// Those behind a commutative task that waits for its turn may need nothing that it has.
TEST(Dispatcher, LooksPastTasksThatWaitForTheirTurnOnly) {
  Dispatching it(1, 8_MiB, 8);
  const DatumId sum = it.datum(1_MiB);
  Task &first = it.task(AccessMode::commutative, {sum}), &second = it.task(AccessMode::commutative, {sum});
  Task& other = it.writer();
  it.ready({&first, &second, &other});
  EXPECT_EQ(second.state, TaskState::picked);
  EXPECT_EQ(other.state, TaskState::staged);
}

TEST(Dispatcher, InsistsOnATaskWhenNothingElseMoves) {
  Dispatching it(2);
  it.told.gives = false;
  Task &first = it.writer(), &second = it.writer();
  it.ready({&first, &second});
  EXPECT_EQ(first.state, TaskState::staged);  // the policy had to
  EXPECT_EQ(it.dispatcher.held_by_policy(), 1u);
  it.over(first);
  EXPECT_EQ(second.state, TaskState::staged);
}

TEST(Dispatcher, SaysThatAPolicyGivesNothingOut) {
  Dispatching it(2);
  Task& task = it.writer();
  it.codelet.kinds = 2;  // no worker is of that kind
  it.dispatcher.ready(task, it.out);
  EXPECT_THROW(it.go_on(), Error);
}

// Its data would live elsewhere then.
TEST(Dispatcher, WaitsForAnAcceleratorThatIsJustStarting) {
  Topology machine = out_of_core_topology(1, 8_MiB, 1e9, Duration{});
  add_device(machine, {.name = "device", .kind = WorkerKind::emulated, .capacity = 8_MiB});
  EngineParts it(machine);
  it.pipelines.left(worker_1);
  it.told.gives = false;
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
  it.dispatcher.worker_arrived(worker_1);  // and it is gone again: now nobody is awaited
  it.go_on();
  EXPECT_EQ(task.state, TaskState::staged);
  EXPECT_EQ(task.worker, worker_0);
}

// Behind another it may take half of the memory only, in a pipeline of its own all.
TEST(Dispatcher, AnIdleWorkerGetsATaskThatWaitsForMemoryBehindAnother) {
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

TEST(Dispatcher, AnIdleWorkerGetsAStagedTaskThatANeighbourHasNotBegun) {
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
  EXPECT_EQ(it.told.notes, (Notes{"ready 1", "ready 2"}));  // the policy hears nothing of it
}

// What waits for memory, what waits for a copy, and what was launched: the world is asked for that.
TEST(Dispatcher, WhatALostWorkerHasNotBegunIsThePolicysAgainAndHoldsNothing) {
  Dispatching it(2, 4_MiB);
  it.pipelines.left(worker_1);
  Task &launched = it.writer(1_MiB), &coming = it.reader(1_MiB), &waiting = it.reader(4_MiB);
  it.ready({&launched, &coming, &waiting});
  ASSERT_EQ(launched.state, TaskState::staged);
  ASSERT_EQ(coming.state, TaskState::admitted);
  ASSERT_EQ(waiting.state, TaskState::picked);
  it.told.notes.clear();
  it.world.notes.clear();
  it.dispatcher.worker_lost(worker_0, it.out);
  EXPECT_EQ(it.told.notes, (Notes{"lost 0", "returned 2", "returned 3"}));
  EXPECT_EQ(it.dispatcher.held_by_policy(), 2u);
  it.go_on();
  EXPECT_EQ(it.world.notes, (Notes{"recall 1 on 0"}));
  it.dispatcher.returned(launched);  // to nobody: worker 1 is not there either
  EXPECT_EQ(it.told.notes.back(), "returned 1");
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

TEST(Dispatcher, ANeighbourGetsWhatALostWorkerGivesBack) {
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

TEST(Dispatcher, SaysThatNobodyIsLeftWhoCouldRunWhatIsReady) {
  Dispatching it(2);
  for (const WorkerId worker : {worker_0, worker_1}) it.dispatcher.worker_lost(worker, it.out);
  it.dispatcher.ready(it.writer(), it.out);
  try {
    it.go_on();
    FAIL() << "it waits for ever";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "1 tasks are ready, and no worker that could run them is left: lost are 0, 1");
  }
}

TEST(Dispatcher, ATaskThatReadsWhatAnotherShouldHaveWrittenEndsInstead) {
  Dispatching it(1);
  const DatumId a = it.datum(1_MiB);
  Task &writes = it.task(AccessMode::write, {a}), &reads = it.task(AccessMode::read, {a});
  it.ready(writes);
  it.over(writes, false);
  it.told.notes.clear();
  it.ready(reads);
  EXPECT_EQ(it.take_completed(), std::vector{&reads});
  EXPECT_TRUE(reads.cancelled);
  EXPECT_TRUE(it.told.notes.empty());
}

TEST(Dispatcher, TasksThatThePolicyHasEndWhenTheirFlowIsCancelledInTheirTurn) {
  Dispatching it(1, 8_MiB, 1);
  Task &running = it.writer(), &task = it.writer();
  it.ready({&running, &task});
  it.cancel(task);
  it.over(running);
  EXPECT_EQ(it.take_completed(), std::vector{&task});
  EXPECT_EQ(it.pipelines.tasks(), 0u);
  EXPECT_EQ(it.dispatcher.held_by_policy(), 0u);
}

// In the same place as a task that waits (rule 9): those behind it do not take what it waits for.
TEST(Dispatcher, AHoldThatWaitsForMemoryHasItsTurn) {
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

TEST(Dispatcher, ALostWriteStopsTheRunAndIsToldOnce) {
  Dispatching it(1, 1_MiB);
  Task& task = it.writer();
  it.ready(task);
  it.over(task);
  it.ready(it.reader());  // what was written has to go home first
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
  EXPECT_EQ(it.take_completed().size(), 1u);  // nothing begins any more
  it.out.stopped = false;
  it.go_on();
  EXPECT_FALSE(it.out.stopped);
}

// Into space that nobody waits for (rule 6).
TEST(Dispatcher, FetchesWhatComesNextOncePipelinesAreFull) {
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

TEST(Dispatcher, FetchesWhatComesNextOnceAWorkerHasATaskWhereThePolicyPicksLate) {
  struct Late final : Policy {
    explicit Late(bool is_late) : picks_late_(is_late) {}
    void ready(Task& task, WorkerId) override { held.push_back(&task); }
    Task* pick(WorkerId, bool) override {
      return held.size() == 1 ? std::exchange(held, {}).front() : nullptr;  // of two, none
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
    late.held.push_back(&it.reader());  // so that it is declined
    it.ready(next);
    EXPECT_EQ(it.out.copies.size(), is_late ? 1u : 0u);
    for (const memory::Copy* copy : it.out.copies) EXPECT_EQ(copy->cause, memory::Cause::prefetch);
    late.held.clear();
  }
}

}  // namespace fairlead::tests
