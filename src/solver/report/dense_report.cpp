// See dense_report.hpp.
#include "solver/report/dense_report.hpp"

#include <fairlead/version.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "algorithms/linalg/blas/kernel_rates.hpp"
#include "backend/device/no_peers.hpp"
#include "config/value.hpp"
#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"
#include "machine/cgroup.hpp"
#include "machine/machine.hpp"
#include "machine/system_files.hpp"
#include "net/communicator.hpp"
#include "solver/load_kernels.hpp"

namespace fairlead::solver {

namespace {

/// The text after `name` and `separator` on the first line of `text` that starts with `name`; without
/// quotation marks.
std::string value_after(const std::string& text, std::string_view name, char separator) {
  for (std::string_view line : machine::split(text, '\n')) {
    if (!line.starts_with(name)) continue;
    const auto at = line.find(separator);
    if (at == std::string_view::npos) continue;
    line.remove_prefix(at + 1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '"')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '"')) line.remove_suffix(1);
    return std::string(line);
  }
  return {};
}

std::string machine_line() {
  const machine::SystemFiles files("/");
  const machine::Machine machine = machine::discover();
  const std::string processor = value_after(files.text("/proc/cpuinfo").value_or(""), "model name", ':');
  const std::string system = value_after(files.text("/etc/os-release").value_or(""), "PRETTY_NAME=", '=');
  std::string line = fmt::format("{} core{}", machine.workers, machine.workers == 1 ? "" : "s");
  if (!processor.empty()) line += " of " + processor;
  line += ", " + config::readable_size(machine.memory.total_bytes);
  if (!system.empty()) line += ", " + system;
  return line;
}

std::array<report::TransferTotals, memory::cause_count> difference(
    const std::array<Statistics::Count, 4>& before, const std::array<Statistics::Count, 4>& after) {
  std::array<report::TransferTotals, memory::cause_count> result{};
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = {after[i].bytes - before[i].bytes, after[i].copies - before[i].copies};
  return result;
}

double seconds_between(std::chrono::nanoseconds before, std::chrono::nanoseconds after) {
  return std::chrono::duration<double>(after - before).count();
}

double seconds_between(const RunCounters& before, const RunCounters& after) {
  return std::chrono::duration<double>(after.at - before.at).count();
}

std::vector<report::WorkerReport> worker_times(const RunCounters& before, const RunCounters& after) {
  std::vector<report::WorkerReport> all;
  for (std::size_t i = 0; i < after.engine.workers.size(); ++i) {
    const auto& from = before.engine.workers[i];
    const auto& to = after.engine.workers[i];
    const auto core = core_time_between(before.core_times[i], after.core_times[i]);
    all.push_back({.busy_seconds = seconds_between(from.busy, to.busy),
                   .waiting_for_data_seconds = seconds_between(from.waiting_for_data, to.waiting_for_data),
                   .tasks = to.tasks - from.tasks,
                   .on_device = report::is_of_device(to.node),
                   .on_core_seconds = core ? std::optional(seconds(core->on_core)) : std::nullopt,
                   .without_core_seconds = core ? std::optional(seconds(core->waiting)) : std::nullopt});
  }
  return all;
}

}  // namespace

RunCounters counters_of(Runtime& runtime, const linalg::Kernels& kernels) {
  const auto* const communicator = front::communicator_of(runtime);
  Statistics engine = runtime.statistics();
  std::vector<std::optional<CoreTime>> core_times;
  for (std::size_t i = 0; i < engine.workers.size(); ++i)
    core_times.push_back(front::core_of(runtime).world().core_time_of_worker(static_cast<WorkerId>(i)));
  return {std::move(engine),
          communicator == nullptr ? net::NetworkTraffic{} : communicator->traffic(),
          report::disk_counters(),
          kernels.counts(),
          std::chrono::steady_clock::now(),
          backend::no_peer_reasons(front::core_of(runtime).topology()),
          std::move(core_times),
          machine::throttled_time(machine::SystemFiles())};
}

report::RunReport report_between(const RunCounters& before, const RunCounters& after, const Config& config,
                                 const linalg::Kernels& kernels, const DenseProblem& problem) {
  report::RunReport report;
  report.operation = problem.title;
  report.version = version();
  report.date =
      fmt::format("{:%Y-%m-%d %H:%M} UTC",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  report.machine = machine_line();
  report.n = static_cast<std::uint64_t>(problem.n);
  if (problem.rows() != problem.n) report.m = static_cast<std::uint64_t>(problem.rows());
  report.element = report::element_name(problem.element);
  report.tile = static_cast<std::uint64_t>(problem.tile);
  report.tiles = static_cast<std::uint64_t>(problem.tiles());
  report.workers = static_cast<unsigned>(after.engine.workers.size());
  report.scheduler = after.engine.scheduler;
  report.active_policy = after.engine.active_policy;
  report.kernels = name_of(kernels);
  report.memory_limit_bytes = problem.memory_limit;
  report.spill_directory = config.text("disk-directory");
  if (config.has("disk-bandwidth"))
    report.disk_cap_bytes_per_second =
        static_cast<double>(config.bandwidth_bytes_per_second("disk-bandwidth"));
  report.tasks = after.engine.tasks - before.engine.tasks;
  report.no_peer_copy_reasons = after.through_ram;

  for (std::size_t i = 0; i < after.engine.links.size(); ++i) {
    const auto& from = before.engine.links[i];
    const auto& to = after.engine.links[i];
    const report::LinkReport link{to.name, difference(from.from_home, to.from_home),
                                  difference(from.to_home, to.to_home), seconds_between(from.busy, to.busy)};
    if (to.home == "disk") {
      report.bytes_read = to.bytes_from_home() - from.bytes_from_home();
      report.bytes_written = to.bytes_to_home() - from.bytes_to_home();
    }
    if (to.home != "generator" || after.engine.generated.copies != 0) report.links.push_back(link);
  }
  report.generated = {after.engine.generated.bytes - before.engine.generated.bytes,
                      after.engine.generated.copies - before.engine.generated.copies};
  if (before.kernel && after.kernel) {
    const report::DiskCounters counted = *after.kernel - *before.kernel;
    report.kernel_bytes_read = counted.read;
    report.kernel_bytes_written = counted.written;
  }
  for (std::size_t i = 0; i < after.engine.nodes.size(); ++i) {
    const auto& node = after.engine.nodes[i];
    report.nodes.push_back({node.name, node.capacity, node.peak_bytes, node.lost});
    report.evictions += node.evictions - before.engine.nodes[i].evictions;
    // Emulated devices have separate memory, to which no limit of this process applies.
    if (node.name == "RAM") report.peak_memory_bytes += node.peak_bytes;
  }
  report.peak_memory_bytes += problem.reserved;
  report.peak_resident_bytes = report::peak_resident_bytes();
  report.resident_parts = report::resident_parts();
  report.worker_times = worker_times(before, after);
  report.counted_seconds = seconds_between(before, after);
  report::fill_up_times(report.worker_times, report.counted_seconds);
  for (std::size_t i = 0; i < after.kernels.size(); ++i)
    if (const auto calls = after.kernels[i].calls - before.kernels[i].calls; calls > 0)
      report.kernel_calls.push_back({std::string(name_of(static_cast<linalg::Kernel>(i))), calls,
                                     (after.kernels[i].flops - before.kernels[i].flops) * 1e-9});
  report.bounds = problem.operation->bounds(problem);
  if (problem.made) report.bounds->inputs = report.bounds->compulsory = 0;
  return report;
}

void find_limit(report::RunReport& report, const RunCounters& before, const RunCounters& after) {
  report::Measured measured = report::measured(worker_times(before, after), seconds_between(before, after));
  for (std::size_t i = 0; i < after.engine.links.size(); ++i) {
    const auto& link = after.engine.links[i];
    if (link.home != "generator")
      measured.wires.push_back({link.name, seconds_between(before.engine.links[i].busy, link.busy)});
  }
  measured.seconds = report.seconds;
  measured.tile = report.tile;
  measured.cores = static_cast<unsigned>(machine::discover().processors.cores.size());
  measured.throttled_seconds = seconds_between(before.throttled, after.throttled);
  for (const report::PhaseReport& phase : report.phases)
    if (phase.counts && (phase.name == "reading" || phase.name == "writing"))
      measured.file_seconds += phase.seconds;
  report.limiting = report::limiting(measured);
}

void measure_ceiling(report::RunReport& report, const linalg::Kernels& kernels, const DenseProblem& problem) {
  // The ceiling of cores does not apply to devices.
  if (report.limiting && report.limiting->on_devices) return;
  linalg::RateSettings settings;
  // At most the matrix; five tiles for each worker must fit in the memory of the run.
  const auto elements_of_one =
      static_cast<double>(problem.memory_limit / (5 * report.workers * problem.element_bytes()));
  settings.tile = static_cast<int>(
      std::clamp<std::int64_t>(static_cast<std::int64_t>(std::sqrt(elements_of_one)), 1,
                               std::min<std::int64_t>(problem.tile, std::max(problem.rows(), problem.n))));
  settings.threads = static_cast<int>(report.workers);
  settings.kernels = problem.operation->kernels;
  const linalg::KernelRates rates = is_single(problem.element)
                                        ? linalg::measure<float>(kernels.blas(), settings)
                                        : linalg::measure<double>(kernels.blas(), settings);
  const report::TileRates tile{rates.gemm, rates.syrk, rates.trsm, rates.potrf, rates.getrf};
  report.tile_rates = tile;
  report.gemm_peak_gflops = rates.gemm * report.workers;
  if (problem.operation->ceiling != nullptr)
    report.ceiling = problem.operation->ceiling(problem, tile, report.workers);
  if (report.ceiling && report.ceiling->seconds() > 0)
    report.ceiling_gflops = problem.flops() / report.ceiling->seconds() * 1e-9;
}

}  // namespace fairlead::solver
