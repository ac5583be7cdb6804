// A run in virtual time, computed by hand: its recording matches exactly, and page and trace are made from it as from a
// real run.
#include <fairlead/codelet_info.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "at_length.hpp"
#include "backend/sim/sim_world.hpp"
#include "engine/trace_snapshot.hpp"
#include "front/flow/flow_source.hpp"
#include "report/html/page.hpp"
#include "report/perfetto.hpp"
#include "schedule/policies.hpp"

namespace fairlead {

using testing::HasSubstr;
using testing::Not;
using trace::Snapshot;

namespace {

constexpr Bytes tile = 1'000'000;

/// A disk of 1 GB/s without latency, one copy at a time: 1 ms for a datum. Memory for four data, since tasks behind the
/// first may use half of it.
Topology disk_in_turn() {
  Topology topology = out_of_core_topology(1, 4 * 1'003'520, 1e9, Duration{});
  for (LinkSpec& link : topology.links) link.concurrent_copies = 1;
  return topology;
}

/// One worker whose tasks take 10 ms.
class OneWorker {
 public:
  explicit OneWorker(Bytes trace_memory, Topology topology = disk_in_turn()) : world_(options()) {
    kind_.name = "update";
    kind_.kinds = ~0u;  // any worker
    engine::CoreOptions core;
    core.topology = std::move(topology);
    core.engine.policy_name = "eager";
    core.policy = schedule::make_policy("eager");
    core.engine.trace_memory = trace_memory;
    core.engine.pipeline_depth = 4;
    core_ = std::make_unique<engine::RuntimeCore>(std::move(core), world_);
  }
  engine::RegisteredDatum& datum() {
    engine::RegisteredDatum& one = data_.emplace_back();
    core_->register_datum(
        one, {.bytes = tile, .home = core_->topology().store(), .home_offset = data_.size() << 20});
    one.ever_written = true;
    return one;
  }
  void run(const std::vector<std::vector<front::Submission::Use>>& tasks) {
    front::FlowSource flow(*core_);
    for (const auto& uses : tasks) {
      front::Submission submission;
      submission.codelet = &kind_;
      submission.uses = uses;
      flow.submit(submission);
    }
    flow.wait();
    core_->home_values().flush();
  }
  Snapshot recorded() {
    return engine::trace_snapshot(core_->engine(),
                                  [](DatumId id) { return "<" + std::to_string(index(id)) + ">"; });
  }
  std::uint64_t digest() const { return core_->engine().journal().digest().value(); }

 private:
  static backend::SimOptions options() {
    backend::SimOptions sim;
    sim.duration = [](const Task&, WorkerId) { return Duration(10'000'000); };
    return sim;
  }
  CodeletInfo kind_;
  backend::SimWorld world_;
  std::deque<engine::RegisteredDatum> data_;
  std::unique_ptr<engine::RuntimeCore> core_;
};

std::int64_t ms(Duration duration) { return duration.count() / 1'000'000; }

/// Two tasks, each changes a datum that is on disk: their copies arrive at 1 and 2 ms, they run from 1 to 11
/// and from 11 to 21, and their results are written back from 21 to 23.
Snapshot two_updates(OneWorker& machine) {
  auto& a = machine.datum();
  auto& b = machine.datum();
  machine.run({{{&a, AccessMode::read_write}}, {{&b, AccessMode::read_write}}});
  return machine.recorded();
}

}  // namespace

TEST(RecordedSimulation, HasTasksAtTheirVirtualTimes) {
  OneWorker machine(1 << 20);
  const Snapshot recorded = two_updates(machine);
  ASSERT_EQ(recorded.tasks.size(), 2u);
  EXPECT_EQ(ms(recorded.tasks[0].start()), 1);
  EXPECT_EQ(ms(recorded.tasks[0].end()), 11);
  EXPECT_EQ(ms(recorded.tasks[1].start()), 11);
  EXPECT_EQ(ms(recorded.tasks[1].end()), 21);
  EXPECT_EQ(trace::data_text(recorded, recorded.tasks[1]), "-> <1>");
  EXPECT_EQ(recorded.codelets, std::vector<std::string>{"update"});
}

TEST(RecordedSimulation, HasCopiesWithLinkCauseAndDirection) {
  OneWorker machine(1 << 20);
  const Snapshot recorded = two_updates(machine);
  ASSERT_EQ(recorded.copies.size(), 4u);
  const trace::CopyRecord& there = recorded.copies[0];
  EXPECT_EQ(ms(there.start), 0);
  EXPECT_EQ(ms(there.end()), 1);
  EXPECT_EQ(there.bytes, tile);
  EXPECT_EQ(recorded.links[index(there.link)].name, "disk");
  EXPECT_EQ(recorded.nodes[index(there.to)].name, "RAM");
  EXPECT_TRUE(there.away_from_home);
  EXPECT_EQ(static_cast<memory::Cause>(there.cause), memory::Cause::demand);
  EXPECT_EQ(ms(recorded.copies[1].end()), 2);
  const trace::CopyRecord& back = recorded.copies[3];
  EXPECT_EQ(ms(back.end()), 23);
  EXPECT_FALSE(back.away_from_home);
  EXPECT_EQ(static_cast<memory::Cause>(back.cause), memory::Cause::flush);
}

// From the disk to a device through RAM: the copy is recorded on both links, as the counters count it.
TEST(RecordedSimulation, HasACopyOverTwoLinksOnBoth) {
  Topology topology = out_of_core_topology(1, 4 * 1'003'520, 1e9, Duration{});
  add_device(topology, {.name = "gpu 0", .capacity = 4 * 1'003'520, .bytes_per_second = 2e9, .latency = {}});
  topology.workers.erase(topology.workers.begin());  // RAM has no worker
  OneWorker machine(1 << 20, topology);
  machine.run({{{&machine.datum(), AccessMode::read}}});
  const Snapshot recorded = machine.recorded();
  ASSERT_EQ(recorded.copies.size(), 2u);
  EXPECT_EQ(trace::direction_text(recorded, recorded.copies[0]), "disk to RAM");
  EXPECT_EQ(trace::direction_text(recorded, recorded.copies[1]), "RAM to gpu 0");
  EXPECT_EQ(recorded.nodes[index(recorded.copies[0].to)].name, "gpu 0");
  EXPECT_FALSE(trace::is_whole_way(recorded, recorded.copies[0]));
  EXPECT_THAT(report::html_page({}, recorded), HasSubstr("RAM to gpu 0"));
}

TEST(RecordedSimulation, HasTheWaitForTheFirstDatum) {
  OneWorker machine(1 << 20);
  const Snapshot recorded = two_updates(machine);
  ASSERT_EQ(recorded.waits.size(), 1u);
  EXPECT_EQ(ms(recorded.waits[0].start), 0);
  EXPECT_EQ(ms(recorded.waits[0].end()), 1);
}

TEST(RecordedSimulation, FollowsTheUseOfMemory) {
  OneWorker machine(1 << 20);
  const Snapshot recorded = two_updates(machine);
  const Bytes block = 1'003'520;  // in pages of 4096
  ASSERT_GE(recorded.memory.size(), 3u);
  EXPECT_EQ(recorded.memory[0].by_tasks, block);
  EXPECT_EQ(recorded.memory[1].by_tasks,
            2 * block);  // the second is admitted while the first one's copy is made
  EXPECT_EQ(recorded.memory.back().by_tasks, 0u);
  EXPECT_EQ(recorded.memory.back().cached, 2 * block);
  for (const auto& record : recorded.memory)
    EXPECT_LE(record.by_tasks + record.prefetched + record.leaving + record.cached, 2 * block);
}

TEST(RecordedSimulation, IsEmptyIfRecordingIsOff) {
  OneWorker machine(0);
  const Snapshot recorded = two_updates(machine);
  EXPECT_TRUE(recorded.tasks.empty() && recorded.copies.empty() && recorded.memory.empty());
  EXPECT_EQ(recorded.workers.size(), 1u);
}

TEST(RecordedSimulation, MakesTheSameDecisionsAsAnUnrecordedOne) {
  OneWorker with(1 << 20), without(0);
  two_updates(with);
  two_updates(without);
  EXPECT_EQ(with.digest(), without.digest());
}

TEST(RecordedSimulation, IsWrittenAsAPageAndAsATrace) {
  OneWorker machine(1 << 20);
  const Snapshot recorded = two_updates(machine);
  report::RunReport report;
  report.operation = "two </script> updates";
  report.seconds = 0.023;
  const std::string page = report::html_page(report, recorded);
  EXPECT_THAT(page, HasSubstr("id=\"numbers\""));
  EXPECT_THAT(page, HasSubstr("two &lt;/script&gt; updates"));
  EXPECT_THAT(page, HasSubstr("\\u003c1>"));  // the datum's name, escaped for a script
  EXPECT_THAT(page, HasSubstr("<th>update</th><td>2</td>"));
  std::string trace;
  report::write_perfetto({&recorded, 1}, [&trace](std::string_view text) { trace += text; });
  EXPECT_THAT(trace, HasSubstr("disk to RAM"));
  EXPECT_THAT(trace, HasSubstr("-> <1>"));
}

TEST(RecordedSimulation, ShowsThatTasksWereTimedInGroups) {
  OneWorker machine(1 << 20);
  Snapshot recorded = two_updates(machine);
  report::RunReport report;
  std::string trace;
  const auto write = [&trace](std::string_view text) { trace += text; };
  report::write_perfetto({&recorded, 1}, write);
  EXPECT_THAT(trace, Not(HasSubstr("an even share")));
  EXPECT_THAT(report::html_page(report, recorded), Not(HasSubstr("too short to be timed")));
  recorded.tasks[1].flags |= trace::TaskRecord::shared_flag;
  report::write_perfetto({&recorded, 1}, write);
  EXPECT_THAT(trace, HasSubstr("an even share"));
  EXPECT_THAT(report::html_page(report, recorded), HasSubstr("too short to be timed each: 1."));
}

TEST(ReportPage, WithoutRecordsHasTablesAndNoChart) {
  report::RunReport report;
  report.operation = "a run";
  const std::string page = report::html_page(report, {});
  EXPECT_THAT(page, HasSubstr("<h2>Time and speed</h2>"));
  EXPECT_THAT(page, Not(HasSubstr("<canvas")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(ReportPage, OfAMillionTasksHasAFewMegabytesAndReportsThatTasksAreMerged) {
  Snapshot recorded;
  recorded.workers = {"worker 0", "worker 1"};
  recorded.codelets = {"tiny"};
  recorded.data = {{"a", 1}};
  const std::size_t tasks = tests::many_cases() ? 1'000'000 : 200'000, half = tasks / 2;
  for (std::size_t i = 0; i < tasks; ++i) {
    trace::TaskRecord task;
    task.worker = static_cast<WorkerId>(i / half);
    task.start_ns = static_cast<std::int64_t>(i % half) * 1000;
    task.set_duration(Duration(700));
    task.data_count = 1;
    task.data[0] = DatumId{0};
    recorded.tasks.push_back(task);
  }
  const std::string page = report::html_page({}, recorded);
  EXPECT_LT(page.size(), 4u << 20);
  EXPECT_THAT(page, HasSubstr(std::to_string(tasks) + " tasks: those shorter than"));
}

}  // namespace fairlead
