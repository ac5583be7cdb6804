// The records of a run: all notifications to the engine, in order, and a digest of its commands, which depends on each
// command and on their order.
#include "engine/run_records.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "engine/log/log_records.hpp"
#include "engine/parts.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

using Kind = engine::EventLog::Record;

/// Two cores with RAM over a disk.
struct Journaling : EngineParts {
  explicit Journaling(engine::Options chosen)
      : EngineParts(machine(), Notifications::none, std::move(chosen)) {}
  Journaling() : Journaling(engine::Options{}) {}
  static Topology machine() { return out_of_core_topology(2, 4_MiB, 1e9, Duration{}); }
  static engine::Options logging() {
    engine::Options options;
    options.log = true;
    return options;
  }
  static engine::Options recording() {
    engine::Options options;
    options.trace_memory = 1_MiB;
    return options;
  }

  Task& some_task() { return task(AccessMode::read, {datum(1_MiB)}); }
  void post_ready(Task& task) {
    task.kind = EventKind::task_ready;
    journal.event(task);
  }
  std::vector<Kind> kinds() const {
    std::vector<Kind> all;
    for (const LogRecord& record : records_of(journal.log().words())) all.push_back(record.kind());
    return all;
  }
};

}  // namespace

TEST(RunRecords, WriteNothingWithoutALog) {
  Journaling it;
  it.post_ready(it.some_task());
  it.journal.datum({.bytes = 1_MiB});
  it.journal.submission(it.some_task());
  it.journal.cancellation(1);
  it.journal.served();
  EXPECT_FALSE(it.journal.logs());
  EXPECT_TRUE(it.journal.log().words().empty());
}

TEST(RunRecords, LogTheNotificationsInOrder) {
  Journaling it(Journaling::logging());
  Task& task = it.some_task();
  it.journal.datum({.bytes = 1_MiB});
  it.journal.submission(task);
  it.journal.horizon_closed();
  it.post_ready(task);
  it.journal.cancellation(1);
  it.journal.advice(DatumId{0}, 0);
  it.journal.removal(DatumId{0});
  it.journal.served();
  EXPECT_EQ(it.kinds(),
            (std::vector{Kind::datum, Kind::codelet, Kind::submission, Kind::horizon_closed, Kind::event,
                         Kind::cancellation, Kind::advice, Kind::removal, Kind::served}));
}

// A replay compares the marks after each batch.
TEST(RunRecords, LogAMarkOfAllCommandsAfterEachBatch) {
  Journaling it(Journaling::logging());
  it.journal.served();
  it.journal.launched(it.some_task(), 0);
  it.journal.served();
  const auto records = records_of(it.journal.log().words());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_NE(records[0].words, records[1].words);
  EXPECT_EQ(records[1].words[0] >> 8, it.journal.digest().mark());
}

TEST(RunRecords, EachCommandAndItsDetailsChangeTheDigest) {
  std::set<std::uint64_t> digests;
  std::size_t commands = 0;
  const auto note = [&](auto&& command) {
    Journaling it;
    Task &task = it.some_task(), &other = it.some_task();
    task.worker = other.worker = WorkerId{0};
    command(it.journal, task, other);
    digests.insert(it.journal.digest().value());
    EXPECT_EQ(it.journal.digest().count(), 1u);
    ++commands;
  };
  note([](auto& it, Task& task, Task&) { it.launched(task, 0); });
  note([](auto& it, Task& task, Task&) { it.launched(task, 1); });
  note([](auto& it, Task&, Task& other) { it.launched(other, 0); });
  note([](auto& it, Task& task, Task&) { it.launched((task.worker = WorkerId{1}, task), 0); });
  note([](auto& it, Task& task, Task&) { it.recalled(task); });
  note([](auto& it, Task& task, Task&) { it.stands_aside(WorkerId{0}, task); });
  note([](auto& it, Task& task, Task&) { it.stands_aside(WorkerId{1}, task); });
  note([](auto& it, Task& task, Task&) { it.granted(task); });
  note([](auto& it, Task& task, Task&) { it.completed(task, 0); });
  note([](auto& it, Task& task, Task&) { it.completed(task, 1); });
  note([](auto& it, Task&, Task&) { it.stopped(DatumId{0}, 5); });
  note([](auto& it, Task&, Task&) { it.stopped(DatumId{0}, 28); });
  EXPECT_EQ(digests.size(), commands);
}

TEST(RunRecords, TheOrderOfCommandsChangesTheDigest) {
  const auto digest_of = [](bool reversed) {
    Journaling it;
    Task *first = &it.some_task(), *second = &it.some_task();
    if (reversed) std::swap(first, second);
    it.journal.recalled(*first);
    it.journal.recalled(*second);
    return it.journal.digest().value();
  };
  EXPECT_NE(digest_of(false), digest_of(true));
  EXPECT_EQ(digest_of(false), digest_of(false));
}

// The digest covers a copy's source and its place: otherwise a replay could place it elsewhere undetected.
TEST(RunRecords, ACopysPlaceInMemoryChangesTheDigest) {
  const auto digest_of = [](bool behind_another) {
    Journaling it;
    const DatumId a = it.datum(1_MiB), b = it.datum(1_MiB);
    memory::Effects other;
    if (behind_another) {
      Task& before = it.task(AccessMode::write, {b});
      EXPECT_EQ(it.memory.admit(before, it.view.host(), true, other), memory::Admission::admitted);
    }
    EXPECT_TRUE(it.bare.admit(it.task(AccessMode::read, {a})));
    for (const memory::Copy* copy : it.bare.take_started()) it.journal.copy_started(*copy);
    EXPECT_EQ(it.journal.digest().count(), 1u);
    return it.journal.digest().value();
  };
  EXPECT_NE(digest_of(false), digest_of(true));
}

// In simulations policies know the durations in advance, so a replay needs them as well.
TEST(RunRecords, LogTheDurationOfATaskOnEachProcessor) {
  Topology machine = Journaling::machine();
  machine.workers[1].processor = "slow core";
  engine::Options options = Journaling::logging();
  options.estimate = [](const Task& task, WorkerId worker) {
    return Duration(task.role == TaskRole::hold ? 7 : worker == WorkerId{0} ? 100 : 300);
  };
  EngineParts it(machine, Notifications::none, options);
  Task& task = it.task(AccessMode::read, {it.datum(1_MiB)});
  Task& hold = it.task(AccessMode::read, {it.datum(1_MiB)}, TaskRole::hold);
  task.kind = hold.kind = EventKind::task_ready;
  it.journal.event(hold);
  it.journal.event(task);
  std::vector<std::vector<std::uint64_t>> logged;
  for (const LogRecord& record : records_of(it.journal.log().words()))
    if (record.kind() == Kind::durations) logged.emplace_back(record.words.begin() + 1, record.words.end());
  EXPECT_EQ(logged, (std::vector<std::vector<std::uint64_t>>{{100, 300}}));
}

TEST(RunRecords, RecordOnlyIfRecordingIsEnabled) {
  EXPECT_FALSE(Journaling().journal.records());
  EXPECT_TRUE(Journaling(Journaling::recording()).journal.records());
}

TEST(RunRecords, ACopyIsRecordedOnEachPhysicalLink) {
  Topology machine = Journaling::machine();
  const NodeId device = add_device(machine, {.name = "device", .capacity = 4_MiB});
  EngineParts it(machine, Notifications::none, Journaling::recording());
  EXPECT_TRUE(it.bare.admit(it.task(AccessMode::read, {it.datum(1_MiB)}), device));
  for (memory::Copy* copy : it.bare.take_started()) {
    copy->kind = EventKind::copy_failed;
    copy->at = Time{} + Duration(1000);
    copy->duration = Duration(400);
    it.journal.copy_over(*copy, it.memory.routes());
  }
  const trace::Snapshot seen = it.journal.tracer()->snapshot();
  ASSERT_EQ(seen.copies.size(), 2u);
  EXPECT_NE(seen.copies[0].link, seen.copies[1].link);
  for (const trace::CopyRecord& record : seen.copies) {
    EXPECT_EQ(record.start, Time{} + Duration(600));
    EXPECT_EQ(record.bytes, 1_MiB);
    EXPECT_EQ(record.to, device);
    EXPECT_TRUE(record.failed);
  }
}

// 1 MiB each: used by a task, prefetched, and cached.
TEST(RunRecords, MemoryIsRecordedByUse) {
  Journaling it(Journaling::recording());
  it.bare.run(it.some_task());
  it.bare.prefetch(it.datum(1_MiB));
  it.bare.admit(it.some_task());
  it.journal.memory_at(Time{} + Duration(5), it.memory, it.view.caches());
  const trace::Snapshot seen = it.journal.tracer()->snapshot();
  ASSERT_EQ(seen.memory.size(), 1u);
  const trace::MemoryRecord& record = seen.memory[0];
  EXPECT_EQ(record.node, it.view.host());
  EXPECT_EQ(record.by_tasks, 1_MiB);
  EXPECT_EQ(record.prefetched, 1_MiB);
  EXPECT_EQ(record.leaving, 0u);
  EXPECT_EQ(record.cached, 1_MiB);
}

TEST(RunRecords, AnIdleWorkerIsRecordedWithTheReason) {
  Journaling it(Journaling::recording());
  it.journal.idle(WorkerId{1}, {.since = Time{}, .duration = Duration(10), .for_data = true});
  it.journal.idle(WorkerId{1}, {.since = Time{} + Duration(20), .duration = Duration(10), .for_data = false});
  const trace::Snapshot seen = it.journal.tracer()->snapshot();
  ASSERT_EQ(seen.waits.size(), 2u);
  EXPECT_EQ(seen.waits[0].reason, trace::WaitRecord::For::data);
  EXPECT_EQ(seen.waits[1].reason, trace::WaitRecord::For::tasks);
}

}  // namespace fairlead::tests
