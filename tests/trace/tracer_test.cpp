// Snapshots of records: order, names, idle times, and dropped records.
#include "trace/tracer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::trace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr WorkerId first{0}, second{1};

CodeletInfo codelet(std::string name) {
  CodeletInfo info;
  info.name = std::move(name);
  return info;
}

void add_task(Tracer& tracer, std::size_t thread, const CodeletInfo& kind, WorkerId worker,
              std::int64_t start, std::int64_t end) {
  TaskRecord record;
  record.start_ns = start;
  record.set_duration(Duration(end - start));
  record.worker = worker;
  tracer.thread(thread).add(record, kind);
}

std::vector<std::pair<std::int64_t, std::int64_t>> spans(const std::vector<WaitRecord>& waits) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const WaitRecord& wait : waits) result.emplace_back(wait.start.count(), wait.end().count());
  return result;
}

}  // namespace

TEST(Tracer, PutsTasksOfAllThreadsInOrderOfWorkerAndTime) {
  Tracer tracer(1 << 20, 2);
  const CodeletInfo gemm = codelet("gemm");
  add_task(tracer, 1, gemm, second, 5, 7);
  add_task(tracer, 0, gemm, first, 20, 30);
  add_task(tracer, 1, gemm, first, 10, 15);  // an asynchronous task, completed by another thread
  std::vector<std::pair<std::size_t, std::int64_t>> order;
  for (const TaskRecord& task : tracer.snapshot().tasks)
    order.emplace_back(index(task.worker), task.start_ns);
  EXPECT_THAT(order, ElementsAre(std::pair(0u, 10), std::pair(0u, 20), std::pair(1u, 5)));
}

TEST(Tracer, IdentifiesACodeletByItsNameAlsoFromTwoThreads) {
  Tracer tracer(1 << 20, 2);
  add_task(tracer, 0, codelet("syrk"), first, 0, 1);
  add_task(tracer, 0, codelet("gemm"), first, 1, 2);
  add_task(tracer, 1, codelet("gemm"), second, 0, 1);
  const Snapshot snapshot = tracer.snapshot();
  EXPECT_THAT(snapshot.codelets, ElementsAre("syrk", "gemm"));
  EXPECT_EQ(snapshot.tasks[2].codelet, 1);
}

TEST(Tracer, DistinguishesCodeletsAtTheSameAddress) {
  Tracer tracer(1 << 20, 1);
  CodeletInfo info = codelet("before");
  add_task(tracer, 0, info, first, 0, 1);
  info.name = "after";  // as if it had been destroyed and its memory reused
  add_task(tracer, 0, info, first, 1, 2);
  const Snapshot snapshot = tracer.snapshot();
  EXPECT_EQ(snapshot.codelets[snapshot.tasks[0].codelet], "before");
  EXPECT_EQ(snapshot.codelets[snapshot.tasks[1].codelet], "after");
}

TEST(Tracer, KeepsDurationsOfMoreThanFourSeconds) {
  Tracer tracer(1 << 20, 1);
  const std::int64_t three_hours = 3 * 3600 * std::int64_t{1'000'000'000};
  add_task(tracer, 0, codelet("long"), first, 17, 17 + three_hours);
  EXPECT_EQ(tracer.snapshot().tasks[0].duration().count(), three_hours);
}

TEST(Tracer, DividesATimeEvenlyAmongTasksThatWereTimedTogether) {
  Tracer tracer(1 << 20, 1);
  const CodeletInfo tiny = codelet("tiny");
  add_task(tracer, 0, tiny, first, 5, 10);
  for (int i = 0; i < 3; ++i) add_task(tracer, 0, tiny, first, 0, 0);
  tracer.thread(0).share_time(3, Time(10), Time(30));
  std::vector<std::tuple<std::int64_t, std::int64_t, bool>> times;
  for (const TaskRecord& task : tracer.snapshot().tasks)
    times.emplace_back(task.start_ns, task.end().count(), task.shares_time());
  EXPECT_THAT(times,
              ElementsAre(std::tuple(5, 10, false), std::tuple(10, 16, true), std::tuple(16, 22, true),
                          std::tuple(22, 30, true)));  // no task is lost, and the first one is unchanged
}

TEST(Tracer, DividesATimeEvenIfNotAllTasksFit) {
  Tracer tracer(64 * 16, 1);  // space for 22
  const CodeletInfo tiny = codelet("tiny");
  for (int i = 0; i < 30; ++i) add_task(tracer, 0, tiny, first, 0, 0);
  tracer.thread(0).share_time(30, Time(0), Time(300));
  const Snapshot snapshot = tracer.snapshot();
  EXPECT_EQ(snapshot.dropped.tasks, 30 - snapshot.tasks.size());
  EXPECT_EQ(snapshot.tasks.front().start_ns, static_cast<std::int64_t>(snapshot.dropped.tasks) * 10);
  EXPECT_EQ(snapshot.tasks.back().end().count(), 300);
}

TEST(Tracer, RecordsTheUseOfMemoryOnlyWhenItChanges) {
  Tracer tracer(1 << 20, 1);
  const NodeId ram{2};
  tracer.memory({.at = Time(1), .node = ram, .by_tasks = 10});
  tracer.memory({.at = Time(2), .node = ram, .by_tasks = 10});
  tracer.memory({.at = Time(3), .node = NodeId{3}, .by_tasks = 10});
  tracer.memory({.at = Time(4), .node = ram, .by_tasks = 10, .cached = 1});
  std::vector<std::int64_t> times;
  for (const MemoryRecord& record : tracer.snapshot().memory) times.push_back(record.at.count());
  EXPECT_THAT(times, ElementsAre(1, 3, 4));
}

// The engine is notified of completions late and of starts early: worker 0 ran tasks [10, 20) and [30, 40), and the engine
// counted [5, 32) as idle time.
TEST(Tracer, DoesNotCountARunningTaskAsIdleTime) {
  Tracer tracer(1 << 20, 1);
  const CodeletInfo kind = codelet("task");
  add_task(tracer, 0, kind, first, 10, 20);
  add_task(tracer, 0, kind, first, 30, 40);
  tracer.wait({Time(5), Duration(27), first, WaitRecord::For::data});
  tracer.wait({Time(12), Duration(5), first, WaitRecord::For::tasks});
  tracer.wait({Time(12), Duration(5), second, WaitRecord::For::tasks});
  const Snapshot snapshot = tracer.snapshot();
  EXPECT_THAT(spans(snapshot.waits), ElementsAre(std::pair(5, 10), std::pair(20, 30), std::pair(12, 17)));
  EXPECT_EQ(snapshot.waits[2].worker, second);
}

TEST(Tracer, ReportsDroppedRecordsAndSinceWhenTheRecordingIsComplete) {
  Tracer tracer(16 * 1024, 1);  // 11 KB for tasks: 352 of them
  const CodeletInfo kind = codelet("task");
  for (std::int64_t i = 0; i < 1000; ++i) add_task(tracer, 0, kind, first, i, i + 1);
  Snapshot snapshot = tracer.snapshot();
  EXPECT_EQ(snapshot.tasks.size(), 352u);
  EXPECT_EQ(snapshot.dropped.tasks, 648u);
  EXPECT_EQ(snapshot.complete_from.count(), 649);  // the end of the oldest recorded task
  EXPECT_THAT(dropped_text(snapshot), HasSubstr("648 tasks were dropped"));
}

TEST(Tracer, ReportsNothingIfNoRecordIsDropped) {
  Tracer tracer(1 << 20, 1);
  add_task(tracer, 0, codelet("task"), first, 0, 1);
  const Snapshot snapshot = tracer.snapshot();
  EXPECT_EQ(dropped_text(snapshot), "");
  EXPECT_EQ(snapshot.complete_from.count(), 0);
}

TEST(PackedTask, UnpacksToTheSameTask) {
  TaskRecord task;
  task.start_ns = 0x7fff'1234'5678'9abc;
  task.duration_low = 0xfedc'ba98;
  task.duration_high = 0xabcd;
  task.worker = WorkerId{0xfffe};
  task.data = {DatumId{0xffff'fffe}, DatumId{1}, DatumId{0x8000'0001}};
  task.codelet = 0xfedc;
  task.data_count = 255;
  task.flags = 0x87;
  const TaskRecord again = PackedTask::of(task).task();
  EXPECT_EQ(again.start_ns, task.start_ns);
  EXPECT_EQ(again.duration(), task.duration());
  EXPECT_EQ(again.worker, task.worker);
  EXPECT_EQ(again.data, task.data);
  EXPECT_EQ(again.codelet, task.codelet);
  EXPECT_EQ(again.data_count, task.data_count);
  EXPECT_EQ(again.flags, task.flags);
}

TEST(DataText, NamesReadDataBeforeChangedData) {
  Snapshot snapshot;
  snapshot.data = {{"a", 1}, {"b", 1}, {"c", 1}};
  TaskRecord task;
  task.data = {DatumId{0}, DatumId{1}, DatumId{2}};
  task.data_count = 3;
  task.flags = 0b100;
  EXPECT_EQ(data_text(snapshot, task), "a, b -> c");
  task.flags = 0b111;
  EXPECT_EQ(data_text(snapshot, task), "-> a, b, c");
  task.flags = 0;
  EXPECT_EQ(data_text(snapshot, task), "a, b, c");
  task.data_count = 5;
  EXPECT_EQ(data_text(snapshot, task), "a, b, c and 2 more");
}

}  // namespace fairlead::trace
