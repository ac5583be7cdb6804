// Rank 0 collects the records of all ranks, converted to its clock; comparison of clocks; waits between ranks.
#include "report/trace_collection.hpp"

#include <gtest/gtest.h>
#include <fairlead/config.hpp>
#include <fairlead/error.hpp>

#include <chrono>
#include <cstdlib>

#include "on_ranks.hpp"
#include "report/rank_waits.hpp"
#include "trace/snapshot_bytes.hpp"

namespace fairlead::report {
namespace {

using namespace std::chrono_literals;

Config small(std::uint32_t) {
  Config config;
  config.set("memory", "4MiB");
  config.set("workers", 1);
  config.set("bind-threads", false);
  return config;
}

Time time_of_machine() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

/// As if each rank had been started a while after the one before, on machines whose clocks have nothing in common: what rank 0
/// found, and what is so. Their clocks go as the machine's, or the answer would depend on how long it takes.
struct Compared {
  std::vector<ClockReading> found;
  std::vector<Time> zeros = std::vector<Time>(3);  // by a clock that all have
};
Compared compared(std::uint64_t (*machine_of)(std::uint32_t), Duration wrong = {}) {
  Compared out;
  const auto thrown = tests::on_ranks(3, small, [&](Runtime& runtime) {
    Clock clock = clock_of(runtime);
    const Duration later = runtime.rank() * 7s;
    clock.machine_at_zero -= later;
    clock.now = [zero = clock.machine_at_zero] { return time_of_machine() - zero; };
    out.zeros[runtime.rank()] = clock.machine_at_zero;
    clock.machine_at_zero += static_cast<std::int64_t>(runtime.rank()) * wrong;
    clock.machine = machine_of(runtime.rank());
    const std::vector<ClockReading> found = read_clocks(runtime, clock);
    if (runtime.rank() == 0)
      out.found = found;
    else
      EXPECT_TRUE(found.empty());
  });
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
  return out;
}

}  // namespace

TEST(ClocksOfRanks, AreMeasuredByMessages) {
  const Compared it = compared([](std::uint32_t rank) -> std::uint64_t { return rank + 1; });
  ASSERT_EQ(it.found.size(), 3u);
  for (std::size_t rank = 1; rank < 3; ++rank) {
    const Duration off = it.found[rank].offset - (it.zeros[0] - it.zeros[rank]);
    EXPECT_GT(it.found[rank].max_error, Duration{});
    EXPECT_LE(std::abs(off.count()), it.found[rank].max_error.count() + 20'000) << rank;
  }
}

TEST(ClocksOfRanks, OfOneMachineAreTheSame) {
  const Compared it = compared([](std::uint32_t) -> std::uint64_t { return 5; });
  ASSERT_EQ(it.found.size(), 3u);
  for (std::size_t rank = 1; rank < 3; ++rank) {
    EXPECT_EQ(it.found[rank].max_error, Duration{});
    EXPECT_EQ(it.found[rank].offset, it.zeros[0] - it.zeros[rank]);
  }
}

// Processes may see different offsets of the machine's clock, as in containers.
TEST(ClocksOfRanks, DifferIfMessagesShowIt) {
  const Compared it = compared([](std::uint32_t) -> std::uint64_t { return 5; }, 3600s);
  ASSERT_EQ(it.found.size(), 3u);
  for (std::size_t rank = 1; rank < 3; ++rank) {
    const Duration off = it.found[rank].offset - (it.zeros[0] - it.zeros[rank]);
    EXPECT_LE(std::abs(off.count()), it.found[rank].max_error.count() + 20'000) << rank;
  }
}

TEST(ClocksOfRanks, AreInterpolatedBetweenTwoComparisons) {
  const ClockReading before{.at = 1000ns, .offset = 100ns}, after{.at = 2000ns, .offset = 200ns};
  EXPECT_EQ(to_rank0_time(1000ns, before, after), 900ns);
  EXPECT_EQ(to_rank0_time(1500ns, before, after), 1350ns);
  EXPECT_EQ(to_rank0_time(2000ns, before, after), 1800ns);
  EXPECT_EQ(to_rank0_time(3000ns, before, after), 2700ns);
  EXPECT_EQ(to_rank0_time(500ns, after, after), 300ns);
}

// By the machine's clock one clock loses a thousandth, and the first gains one.
TEST(ClocksOfRanks, OfOneMachineAreComparedByItsClock) {
  const auto reading = [](Time own, Time first) {
    const auto clock = [](Time at, std::int64_t per_mille, Time zero) {
      return Clock{.now = {}, .machine_at_zero = zero + at * per_mille / 1000, .at = at, .machine = 5};
    };
    return ClockReading{.own = clock(own, 1, 5'000'000ns), .first = clock(first, -1, 2'000'000ns)};
  };
  const ClockReading before = reading(1'000'000ns, 3'000'000ns), after = reading(9'000'000ns, 12'000'000ns);
  // The machine's clock shows 5,000,000 + 1.001 x here and 2,000,000 + 0.999 x there.
  EXPECT_NEAR(static_cast<double>(to_rank0_time(4'000'000ns, before, after).count()),
              (5e6 + 1.001 * 4e6 - 2e6) / 0.999, 10);
}

TEST(TracesOfRanks, ArriveAtRank0ByItsClock) {
  std::vector<trace::Snapshot> all;
  std::vector<Time> zeros(3), looked(3);
  std::vector<std::pair<Time, Time>> between(3);  // by the machine's clock
  const auto thrown = tests::on_ranks(3, small, [&](Runtime& runtime) {
    const std::uint32_t rank = runtime.rank();
    TracesOfRanks traces(runtime);
    const Clock clock = clock_of(runtime);
    zeros[rank] = clock.machine_at_zero;
    looked[rank] = time_of_machine();
    trace::Snapshot own;
    own.codelets = {"work", "more"};
    own.data.resize(40'000, {"a datum of rank " + std::to_string(rank), 8});  // more than one chunk
    between[rank].first = time_of_machine();
    trace::TaskRecord task;
    task.start_ns = clock.now().count();
    task.set_duration(Duration(100 + rank));
    between[rank].second = time_of_machine();
    own.tasks = {task};
    own.transfers = {
        {.start = task.start(), .duration = 5ns, .value = rank, .bytes = 7, .peer = 1, .comes = true}};
    own.phases = {{"all", task.start(), task.end()}};
    auto collected = traces.collect(own);
    if (rank == 0) {
      all = std::move(collected);
    } else {
      EXPECT_EQ(collected.size(), 1u);
      EXPECT_EQ(collected[0].tasks[0].start(), task.start());
    }
  });
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
  ASSERT_EQ(all.size(), 3u);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const trace::Snapshot& it = all[rank];
    EXPECT_EQ(it.process.substr(0, 6), "rank " + std::to_string(rank));
    EXPECT_EQ(it.codelets, (std::vector<std::string>{"work", "more"}));
    ASSERT_EQ(it.data.size(), 40'000u);
    EXPECT_EQ(it.data.back().name, "a datum of rank " + std::to_string(rank));
    ASSERT_EQ(it.tasks.size(), 1u);
    EXPECT_NEAR(static_cast<double>(it.tasks[0].duration().count()), 100.0 + static_cast<double>(rank), 1);
    const Time at = it.tasks[0].start() + zeros[0];
    // The first one's clock, and so its zero, may have drifted since it was looked at.
    const Duration drift = 50us + std::chrono::abs(between[rank].second - looked[0]) / 200;
    EXPECT_GE(at, between[rank].first - drift) << rank;
    EXPECT_LE(at, between[rank].second + drift) << rank;
    EXPECT_EQ(it.transfers.at(0).start, it.tasks[0].start());
    EXPECT_EQ(it.phases.at(0).start, it.tasks[0].start());
  }
}

TEST(TracesOfRanks, ThatAreTruncatedAreRefused) {
  trace::Snapshot snapshot;
  snapshot.workers = {"worker 0"};
  snapshot.waits.resize(3);
  std::vector<std::byte> bytes = trace::bytes_of(snapshot);
  EXPECT_EQ(trace::snapshot_of(bytes).waits.size(), 3u);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(trace::snapshot_of(std::span(bytes).first(size)), SystemError) << size;
  bytes.push_back({});
  EXPECT_THROW(trace::snapshot_of(bytes), SystemError);
}

TEST(WaitedForRanks, CountsWaitsWhileValuesCame) {
  trace::Snapshot own;
  const auto waits = [&](Time begin, Time end,
                         trace::WaitRecord::For reason = trace::WaitRecord::For::tasks) {
    own.waits.push_back({.start = begin, .duration = end - begin, .worker = WorkerId{0}, .reason = reason});
  };
  const auto comes = [&](std::uint32_t from, Time begin, Time end, bool here = true) {
    own.transfers.push_back({.start = begin, .duration = end - begin, .peer = from, .comes = here});
  };
  waits(0ns, 10ns);
  waits(20ns, 40ns);
  waits(0ns, 100ns, trace::WaitRecord::For::data);  // it had a task
  comes(1, 5ns, 8ns);
  comes(1, 7ns, 22ns);   // with the one before: 5 to 10, 20 to 22
  comes(2, 30ns, 60ns);  // 30 to 40
  comes(2, 21ns, 25ns);
  comes(0, 0ns, 100ns, false);  // it goes
  const WaitedForRanks waited = waited_for_ranks(own, 3, 0ns, 100ns);
  EXPECT_EQ(waited.by_rank, (std::vector<Duration>{0ns, 7ns, 14ns}));
  EXPECT_EQ(waited.any, 20ns);
  EXPECT_EQ(waited_for_ranks(own, 3, 6ns, 35ns).by_rank, (std::vector<Duration>{0ns, 6ns, 9ns}));
}

}  // namespace fairlead::report
