// See run_statistics.hpp.
#include "simulate/run_statistics.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "report/table_cells.hpp"

namespace fairlead::simulate {

namespace {

constexpr std::array<std::pair<const char*, RunStatistics PolicyStatistics::*>, 10> columns{{
    {"seconds", &PolicyStatistics::seconds},
    {"gflops", &PolicyStatistics::gflops},
    {"percent_of_peak", &PolicyStatistics::percent_of_peak},
    {"bytes_to_devices", &PolicyStatistics::bytes_to_devices},
    {"bytes_from_devices", &PolicyStatistics::bytes_from_devices},
    {"bytes_between_devices", &PolicyStatistics::bytes_between_devices},
    {"bytes_from_disk", &PolicyStatistics::bytes_from_disk},
    {"bytes_to_disk", &PolicyStatistics::bytes_to_disk},
    {"time_ratio", &PolicyStatistics::time_ratio},
    {"bytes_ratio", &PolicyStatistics::bytes_ratio},
}};

}  // namespace

void PolicyStatistics::add(const RunOutcome& outcome, const Limits& limits) {
  if (runs++ == 0) first_seed = outcome.seed;
  if (!outcome.problem.empty()) return;
  const SimulationResult& result = outcome.result;
  seconds.add(result.seconds);
  gflops.add(simulate::gflops(outcome, limits));
  percent_of_peak.add(simulate::percent_of_peak(outcome, limits));
  bytes_to_devices.add(static_cast<double>(result.bytes_to_devices));
  bytes_from_devices.add(static_cast<double>(result.bytes_from_devices));
  bytes_between_devices.add(static_cast<double>(result.bytes_between_devices));
  bytes_from_disk.add(static_cast<double>(result.bytes_from_disk));
  bytes_to_disk.add(static_cast<double>(result.bytes_to_disk));
}

void PolicyStatistics::compare(const RunOutcome& outcome, const RunOutcome& first) {
  if (!outcome.problem.empty() || !first.problem.empty()) return;
  time_ratio.add(outcome.result.seconds / first.result.seconds);
  const Bytes bytes = bytes_loaded(outcome), of_first = bytes_loaded(first);
  if (bytes != 0 && of_first != 0)
    bytes_ratio.add(static_cast<double>(bytes) / static_cast<double>(of_first));
}

std::string csv_heading() {
  std::string line = "scheduler,machine,workload,n,tile,precision,first_seed,runs,finished";
  for (const auto& [name, spread] : columns) line += fmt::format(",{0},{0}_least,{0}_most", name);
  return line + "\n";
}

std::string csv_line(const PolicyStatistics& runs, std::string_view machine, std::string_view workload,
                     const WorkloadSize& size) {
  std::string line = fmt::format("{},{},{},{},{},{},{},{},{}", report::csv_cell(runs.scheduler),
                                 report::csv_cell(machine), report::csv_cell(workload), size.n, size.tile,
                                 name_of(size.precision), runs.first_seed, runs.runs, runs.seconds.count);
  for (const auto& [name, spread] : columns) {
    const RunStatistics& it = runs.*spread;
    line += it.count == 0 ? std::string(",,,") : fmt::format(",{},{},{}", it.mean(), it.min, it.max);
  }
  return line + "\n";
}

}  // namespace fairlead::simulate
