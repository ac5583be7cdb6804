// See ranks_report.hpp.
#include "fairlead/ranks_report.hpp"

#include <fairlead/gather.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "net/neighbours.hpp"
#include "net/network.hpp"

namespace fairlead::app {

namespace {

/// What ranks tell each other of themselves, as numbers.
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
    peak,
    read,
    written,
    of_file,
    count
  };
};

std::array<double, Fact::count> facts_of(const report::RunReport& report, const Counts& before,
                                         const Counts& after) {
  std::array<double, Fact::count> own{};
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

report::RankReport rank_report(const double* of, Bytes reserved) {
  return {.busy_seconds = of[Fact::busy],
          .tasks = static_cast<std::uint64_t>(of[Fact::tasks]),
          .messages = static_cast<std::uint64_t>(of[Fact::messages]),
          .payloads = static_cast<std::uint64_t>(of[Fact::payloads]),
          .payload_bytes = static_cast<Bytes>(of[Fact::payload_bytes]),
          .payloads_read = static_cast<std::uint64_t>(of[Fact::payload_reads]),
          .payload_bytes_read = static_cast<Bytes>(of[Fact::bytes_of_reads]),
          .peak_memory_bytes = static_cast<Bytes>(of[Fact::peak]) + reserved,
          .bytes_read = static_cast<Bytes>(of[Fact::read]),
          .bytes_written = static_cast<Bytes>(of[Fact::written])};
}

}  // namespace

void bring_together(report::RunReport& report, Runtime& runtime, const Place& place, const Counts& before,
                    const Counts& after, Bytes reserved) {
  if (place.alone()) return;
  const std::vector<double> all = gather(runtime, facts_of(report, before, after));
  report.bytes_read = report.bytes_written = report.tasks = 0;
  Bytes of_file = 0;
  for (std::size_t r = 0; r < place.count(); ++r) {
    const double* const of = all.data() + r * Fact::count;
    const report::RankReport one = rank_report(of, reserved);
    report.seconds = std::max(report.seconds, of[Fact::seconds]);
    report.bytes_read += one.bytes_read;
    report.bytes_written += one.bytes_written;
    report.tasks += one.tasks;
    of_file += static_cast<Bytes>(of[Fact::of_file]);
    report.ranks.push_back(one);
  }
  // Threads of one process have one file, which counts for all of them.
  if (!place.rank.in_process()) report.input_bytes_read = of_file;
  // What the system counts, it counts of one process; and the bounds are those of one memory.
  report.bounds.reset();
  report.kernel_bytes_read.reset();
  report.kernel_bytes_written.reset();
  report.grid = fmt::format("{} x {}", place.grid.rank_rows, place.grid.rank_columns);
  report.network = place.rank.network->description();
  if (const auto* const neighbours = place.rank.network->neighbours())
    report.why_not_read = neighbours->why_not_read();
}

Front front_at(const Config& config, const Place& place) {
  return place.alone() || config.has("front") ? front_in(config) : Front::ptg;
}

const char* name_of(Front front) noexcept {
  return front == Front::jdf ? "jdf" : front == Front::flow ? "flow" : "ptg";
}

}  // namespace fairlead::app
