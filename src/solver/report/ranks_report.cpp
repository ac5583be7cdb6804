// See ranks_report.hpp.
#include "solver/report/ranks_report.hpp"

#include <fairlead/gather.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "net/direct_reads.hpp"
#include "net/network.hpp"
#include "report/clock_sync.hpp"
#include "report/rank_waits.hpp"

namespace fairlead::solver {

namespace {

/// What ranks report to each other about themselves, as numbers.
struct Fact {
  enum : std::size_t {
    seconds,
    busy,
    tasks,
    messages,
    payloads,
    payload_bytes,
    payload_reads,
    bytes_of_reads,
    into_devices,
    bytes_into_devices,
    peak,
    read,
    written,
    of_file,
    workers,
    counted,
    waited,  // below 0: it was not recorded
    count
  };
};
/// And of each other rank.
struct FactOfPair {
  enum : std::size_t { values, bytes = values + 3, in_flight = bytes + 3, waited, count };
};

double seconds_of(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

std::vector<double> facts_of(const report::RunReport& report, Runtime& runtime, const RunCounters& before,
                             const RunCounters& after, const trace::Snapshot& recorded) {
  const std::uint32_t ranks = runtime.ranks();
  std::vector<double> own(Fact::count + ranks * FactOfPair::count);
  own[Fact::workers] = static_cast<double>(after.engine.workers.size());
  own[Fact::counted] = seconds_of(after.at - before.at);
  own[Fact::waited] = -1;
  std::optional<report::WaitedForRanks> waited;
  if (!recorded.tasks.empty()) {
    const Time zero = report::clock_of(runtime).machine_at_zero;
    waited = report::waited_for_ranks(recorded, ranks, before.at.time_since_epoch() - zero,
                                      after.at.time_since_epoch() - zero);
    own[Fact::waited] = seconds_of(waited->any);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    double* const of = own.data() + Fact::count + r * FactOfPair::count;
    const auto &from = before.engine.from_ranks[r], &to = after.engine.from_ranks[r];
    for (std::size_t cause = 0; cause < to.values.size(); ++cause) {
      of[FactOfPair::values + cause] =
          static_cast<double>(to.values[cause].copies - from.values[cause].copies);
      of[FactOfPair::bytes + cause] = static_cast<double>(to.values[cause].bytes - from.values[cause].bytes);
    }
    of[FactOfPair::in_flight] = seconds_of(to.in_flight - from.in_flight);
    of[FactOfPair::waited] = waited ? seconds_of(waited->by_rank[r]) : -1;
  }
  own[Fact::seconds] = report.seconds;
  own[Fact::of_file] = static_cast<double>(report.input_bytes_read);
  for (std::size_t i = 0; i < after.engine.workers.size(); ++i)
    own[Fact::busy] +=
        std::chrono::duration<double>(after.engine.workers[i].busy - before.engine.workers[i].busy).count();
  own[Fact::tasks] = static_cast<double>(after.engine.tasks - before.engine.tasks);
  own[Fact::messages] = static_cast<double>(after.engine.network.messages - before.engine.network.messages);
  own[Fact::payloads] = static_cast<double>(after.engine.network.payloads - before.engine.network.payloads);
  own[Fact::payload_bytes] =
      static_cast<double>(after.engine.network.payload_bytes - before.engine.network.payload_bytes);
  own[Fact::payload_reads] = static_cast<double>(after.network.reads - before.network.reads);
  own[Fact::bytes_of_reads] = static_cast<double>(after.network.read_bytes - before.network.read_bytes);
  const auto &landed = after.engine.network.into_devices, &landed_before = before.engine.network.into_devices;
  own[Fact::into_devices] = static_cast<double>(landed.copies - landed_before.copies);
  own[Fact::bytes_into_devices] = static_cast<double>(landed.bytes - landed_before.bytes);
  for (const auto& node : after.engine.nodes)
    if (node.name == "RAM") own[Fact::peak] += static_cast<double>(node.peak_bytes);
  for (std::size_t i = 0; i < after.engine.links.size(); ++i) {
    const auto &from = before.engine.links[i], &to = after.engine.links[i];
    if (to.home != "disk") continue;
    own[Fact::read] += static_cast<double>(to.bytes_from_home() - from.bytes_from_home());
    own[Fact::written] += static_cast<double>(to.bytes_to_home() - from.bytes_to_home());
  }
  return own;
}

std::optional<double> unless_negative(double value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

report::FromRankReport from_report(const double* of) {
  const auto traffic = [of](std::size_t cause) {
    return report::TransferTotals{static_cast<Bytes>(of[FactOfPair::bytes + cause]),
                                  static_cast<std::uint64_t>(of[FactOfPair::values + cause])};
  };
  return {.graphs = traffic(0),
          .flows = traffic(1),
          .messages = traffic(2),
          .in_flight_seconds = of[FactOfPair::in_flight],
          .waited_seconds = unless_negative(of[FactOfPair::waited])};
}

report::RankReport rank_report(const double* of, Bytes reserved, std::size_t ranks) {
  report::RankReport one{.busy_seconds = of[Fact::busy],
                         .tasks = static_cast<std::uint64_t>(of[Fact::tasks]),
                         .messages = static_cast<std::uint64_t>(of[Fact::messages]),
                         .payloads = static_cast<std::uint64_t>(of[Fact::payloads]),
                         .payload_bytes = static_cast<Bytes>(of[Fact::payload_bytes]),
                         .payloads_read = static_cast<std::uint64_t>(of[Fact::payload_reads]),
                         .payload_bytes_read = static_cast<Bytes>(of[Fact::bytes_of_reads]),
                         .payloads_into_devices = static_cast<std::uint64_t>(of[Fact::into_devices]),
                         .payload_bytes_into_devices = static_cast<Bytes>(of[Fact::bytes_into_devices]),
                         .peak_memory_bytes = static_cast<Bytes>(of[Fact::peak]) + reserved,
                         .bytes_read = static_cast<Bytes>(of[Fact::read]),
                         .bytes_written = static_cast<Bytes>(of[Fact::written]),
                         .workers = static_cast<unsigned>(of[Fact::workers]),
                         .counted_seconds = of[Fact::counted],
                         .from = {},
                         .waited_seconds = unless_negative(of[Fact::waited])};
  for (std::size_t r = 0; r < ranks; ++r)
    one.from.push_back(from_report(of + Fact::count + r * FactOfPair::count));
  return one;
}

}  // namespace

void combine_ranks(report::RunReport& report, Runtime& runtime, const GridRank& place,
                   const RunCounters& before, const RunCounters& after, Bytes reserved,
                   const trace::Snapshot& recorded) {
  if (place.alone()) return;
  const std::vector<double> all = gather(runtime, facts_of(report, runtime, before, after, recorded));
  const std::size_t facts = all.size() / place.count();
  report.bytes_read = report.bytes_written = report.tasks = 0;
  Bytes of_file = 0;
  for (std::size_t r = 0; r < place.count(); ++r) {
    const double* const of = all.data() + r * facts;
    const report::RankReport one = rank_report(of, reserved, place.count());
    report.seconds = std::max(report.seconds, of[Fact::seconds]);
    report.bytes_read += one.bytes_read;
    report.bytes_written += one.bytes_written;
    report.tasks += one.tasks;
    of_file += static_cast<Bytes>(of[Fact::of_file]);
    report.ranks.push_back(one);
  }
  // Threads of one process have one file, which counts for all of them.
  if (!place.rank.in_process()) report.input_bytes_read = of_file;
  // The counters of the system are per process, and the bounds assume a single memory: neither applies to
  // several ranks.
  report.bounds.reset();
  report.kernel_bytes_read.reset();
  report.kernel_bytes_written.reset();
  report.grid = fmt::format("{} x {}", place.grid.rank_rows, place.grid.rank_columns);
  report.network = place.rank.network->description();
  if (place.rank.network->has_own_driver()) report.network += ", driven by a thread of its own";
  if (const auto* const direct_reads = place.rank.network->direct_reads())
    report.no_direct_read_reason = direct_reads->why_not_read();
  report.receive_memory = after.engine.network.receive_memory;
}

}  // namespace fairlead::solver
