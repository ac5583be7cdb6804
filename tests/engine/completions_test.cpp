// A task that will not run is reported to the policy, its pipeline, memory, and the waiters for its completion.
#include "engine/completions.hpp"

#include <algorithm>
#include <cstdint>

#include "engine/parts.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

struct EndingParts : EngineParts {
  explicit EndingParts(Bytes ram = 4_MiB, Notifications interest = Notifications::none)
      : EngineParts(1, ram, interest) {}
  Task& writer(Bytes bytes = 1_MiB) { return task(AccessMode::write, {datum(bytes)}); }
  DatumId written_by(const Task& task) const { return task.accesses()[0].datum; }
  std::size_t in_pipelines() const { return pipelines.tasks(); }
  /// The policy keeps what it is given.
  void hold_back() { noting.gives = false; }
};

}  // namespace

TEST(Completions, ADroppedTaskIsTakenFromThePolicyAndItsResultsArePoisoned) {
  EndingParts it;
  Task& task = it.writer();
  it.hold_back();
  it.dispatcher.ready(task, it.out);
  it.noting.notes.clear();
  it.endings.drop(task, it.out);
  EXPECT_EQ(it.noting.notes, (Notes{"cancelled 1"}));
  EXPECT_TRUE(it.poisoned(it.written_by(task)));
  EXPECT_TRUE(task.cancelled);
  EXPECT_EQ(task.state, TaskState::finished);
  EXPECT_EQ(it.take_completed(), std::vector{&task});
  EXPECT_EQ(it.endings.cancelled(), 1u);
  EXPECT_EQ(it.endings.done(), 0u);
}

// Its successors must be released first: until then the run is not quiescent.
TEST(Completions, ADroppedTaskIsAPendingDelivery) {
  EndingParts it;
  it.endings.drop(it.writer(), it.out);
  EXPECT_FALSE(it.deliveries.none());
  it.deliveries.end(it.out.completions.size());
  EXPECT_TRUE(it.deliveries.none());
}

TEST(Completions, APolicyIsNotifiedOfAnUnreadyDroppedTaskOnlyIfItPlansOverSubmissions) {
  EndingParts it, planning(4_MiB, Notifications::submitted);
  it.endings.drop(it.writer(), it.out);
  EXPECT_TRUE(it.noting.notes.empty());
  planning.endings.drop(planning.writer(), planning.out);
  EXPECT_EQ(planning.noting.notes, (Notes{"cancelled 1"}));
}

TEST(Completions, ADroppedTaskThatWaitedForMemoryLeavesItsPipelineAndReleasesItsClaim) {
  EndingParts it(1_MiB);
  Task &running = it.writer(), &waiting = it.writer();
  it.ready({&running, &waiting});
  it.over(running);  // its result must be written back first
  ASSERT_EQ(waiting.state, TaskState::picked);
  ASSERT_EQ(it.memory.node(it.view.host()).claimant, &waiting);
  it.endings.drop(waiting, it.out);
  EXPECT_EQ(it.in_pipelines(), 0u);
  EXPECT_EQ(it.pipelines.unadmitted(), 0u);
  EXPECT_EQ(it.memory.node(it.view.host()).claimant, nullptr);
}

TEST(Completions, ADroppedTaskThatWaitedForCopiesReleasesItsMemory) {
  EndingParts it;
  Task& task = it.task(AccessMode::read_write, {it.datum(1_MiB)});
  it.ready(task);
  ASSERT_EQ(task.state, TaskState::admitted);
  it.endings.drop(task, it.out);
  EXPECT_EQ(it.in_pipelines(), 0u);
  EXPECT_EQ(it.memory.node(it.view.host()).pinned_bytes, 0u);
  EXPECT_TRUE(it.poisoned(it.written_by(task)));
  it.land();
  it.memory.check(true);
}

// It reports its own failure, not a cancellation.
TEST(Completions, ATaskWhoseCopyFailedIsNotReportedAsCancelled) {
  EndingParts it;
  Task& task = it.task(AccessMode::read_write, {it.datum(1_MiB)});
  it.ready(task);
  it.land(false);
  EXPECT_EQ(it.take_completed(), std::vector{&task});
  EXPECT_FALSE(task.cancelled);
  EXPECT_NE(task.failure, nullptr);
  EXPECT_EQ(it.endings.cancelled(), 1u);
}

TEST(Completions, TasksOfACancelledFlowOrAnAbortedRunAreCancelled) {
  EndingParts it;
  Task &task = it.writer(), &cancelled = it.writer();
  it.cancel(cancelled);
  EXPECT_FALSE(it.endings.is_cancelled(task));
  EXPECT_TRUE(it.endings.is_cancelled(cancelled));
  it.stop.note_lost_write(5, it.datum(1_MiB), nullptr);
  EXPECT_TRUE(it.endings.is_cancelled(task));
}

TEST(Completions, ATaskThatReadsAPoisonedDatumMustNotRunAndATaskThatReplacesItMay) {
  EndingParts it;
  const DatumId a = it.datum(1_MiB);
  Task &reads = it.task(AccessMode::read, {a}), &replaces = it.task(AccessMode::write, {a});
  EXPECT_FALSE(it.endings.must_not_run(reads));
  it.endings.drop(it.task(AccessMode::write, {a}), it.out);
  EXPECT_TRUE(it.endings.must_not_run(reads));
  EXPECT_FALSE(it.endings.must_not_run(replaces));
}

TEST(Completions, TheDigestDependsOnHowATaskEnded) {
  const auto digest_after = [](auto&& end) {
    EndingParts it;
    Task& task = it.writer();
    end(it.endings, task, it.out);
    return it.journal.digest().value();
  };
  const std::uint64_t digests[] = {
      digest_after([](auto& endings, Task& task, auto& out) { endings.drop(task, out); }),
      digest_after([](auto& endings, Task& task, auto& out) { endings.drop_failed(task, out); }),
      digest_after([](auto& endings, Task& task, auto& out) { endings.end(task, out); }),
      digest_after([](auto& endings, Task& task, auto& out) { endings.skip(task, out); })};
  for (const std::uint64_t& one : digests) EXPECT_EQ(std::ranges::count(digests, one), 1);
}

// Readers on the fast path would not be notified.
TEST(Completions, APoisonedDatumClosesTheFastPath) {
  const auto open_after = [](auto&& end) {
    EndingParts it;
    it.fast_path.allow(true);
    EXPECT_TRUE(it.fast_path.try_open());
    end(it.endings, it.writer(), it.out);
    return it.fast_path.path().generation() != 0;
  };
  EXPECT_FALSE(open_after([](auto& endings, Task& task, auto& out) { endings.drop(task, out); }));
  EXPECT_FALSE(open_after([](auto& endings, Task& task, auto& out) { endings.drop_failed(task, out); }));
  EXPECT_FALSE(open_after([](auto& endings, Task& task, auto& out) { endings.fail(task, out); }));
  EXPECT_TRUE(open_after([](auto& endings, Task& task, auto& out) { endings.skip(task, out); }));
  EXPECT_TRUE(open_after([](auto& endings, Task& task, auto& out) { endings.end(task, out); }));
}

}  // namespace fairlead::tests
