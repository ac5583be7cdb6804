// Filling in the report.
#include "fairlead/cholesky_report.hpp"

#include <fairlead/error.hpp>
#include <fairlead/version.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <span>
#include <system_error>

#include "algorithms/linalg/blas/kernel_rates.hpp"
#include "config/value.hpp"
#include "data/output/output_file.hpp"
#include "fairlead/kernels.hpp"
#include "machine/machine.hpp"
#include "machine/system_files.hpp"

#include "schedule/policies.hpp"

namespace fairlead::app {

namespace {

/// What follows `name` and `separator` on the first line of `text` that begins so; without quotation marks.
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

std::array<report::Traffic, memory::cause_count> difference(const std::array<Statistics::Count, 4>& before,
                                                            const std::array<Statistics::Count, 4>& after) {
  std::array<report::Traffic, memory::cause_count> result{};
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = {after[i].bytes - before[i].bytes, after[i].copies - before[i].copies};
  return result;
}

double seconds_between(std::chrono::nanoseconds before, std::chrono::nanoseconds after) {
  return std::chrono::duration<double>(after - before).count();
}

/// A directory counts as a file that cannot be written; a terminal or a pipe can be, but not made anew.
bool is_file_or_nothing(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode) || S_ISDIR(found.st_mode);
}

}  // namespace

Counts counts_of(const Runtime& runtime) { return {runtime.statistics(), report::disk_counters()}; }

bool CholeskyProblem::fits() const noexcept {
  const std::int64_t tiles = (n + tile - 1) / tile;
  const Bytes tile_bytes = static_cast<Bytes>(tile) * static_cast<Bytes>(tile) * element_bytes;
  return static_cast<Bytes>(tiles * (tiles + 1) / 2) * ((tile_bytes + 4095) / 4096 * 4096) + reserved <=
         memory_limit;
}

void check_scheduler(const Config& config) {
  std::vector<std::string_view> known;
  for (const PolicyEntry& entry : schedule::policies()) known.push_back(entry.name);
  config.require_one_of("scheduler", known);
}

report::RunReport report_between(const Counts& before, const Counts& after, const Config& config,
                                 const linalg::Kernels& kernels, const CholeskyProblem& problem) {
  report::RunReport report;
  report.operation = problem.operation;
  report.version = version();
  report.date =
      fmt::format("{:%Y-%m-%d %H:%M} UTC",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  report.machine = machine_line();
  report.n = static_cast<std::uint64_t>(problem.n);
  report.element = problem.element_bytes == 8 ? "FP64" : "FP32";
  report.tile = static_cast<std::uint64_t>(problem.tile);
  report.tiles = static_cast<std::uint64_t>((problem.n + problem.tile - 1) / problem.tile);
  report.workers = static_cast<unsigned>(after.engine.workers.size());
  report.scheduler = after.engine.scheduler;
  report.kernels = name_of(kernels);
  report.memory_limit_bytes = problem.memory_limit;
  report.spill_directory = config.text("disk-directory");
  if (config.has("disk-bandwidth"))
    report.disk_cap_bytes_per_second =
        static_cast<double>(config.bandwidth_bytes_per_second("disk-bandwidth"));
  report.tasks = after.engine.tasks - before.engine.tasks;

  for (std::size_t i = 0; i < after.engine.links.size(); ++i) {
    const auto& from = before.engine.links[i];
    const auto& to = after.engine.links[i];
    const report::LinkReport link{to.name, difference(from.from_home, to.from_home),
                                  difference(from.to_home, to.to_home)};
    if (to.home == "disk") {
      report.bytes_read = to.bytes_from_home() - from.bytes_from_home();
      report.bytes_written = to.bytes_to_home() - from.bytes_to_home();
    }
    report.links.push_back(link);
  }
  if (before.kernel && after.kernel) {
    const report::DiskCounters counted = *after.kernel - *before.kernel;
    report.kernel_bytes_read = counted.read;
    report.kernel_bytes_written = counted.written;
  }
  for (std::size_t i = 0; i < after.engine.nodes.size(); ++i) {
    const auto& node = after.engine.nodes[i];
    report.nodes.push_back({node.name, node.capacity, node.peak_bytes});
    report.evictions += node.evictions - before.engine.nodes[i].evictions;
    report.peak_memory_bytes += node.peak_bytes;
  }
  report.peak_memory_bytes += problem.reserved;
  report.peak_resident_bytes = report::peak_resident_bytes();
  for (std::size_t i = 0; i < after.engine.workers.size(); ++i) {
    const auto& from = before.engine.workers[i];
    const auto& to = after.engine.workers[i];
    report.worker_times.push_back(
        {seconds_between(from.busy, to.busy), seconds_between(from.waiting_for_data, to.waiting_for_data),
         seconds_between(from.waiting_for_tasks, to.waiting_for_tasks), to.tasks - from.tasks});
  }
  report.bounds = report::cholesky_bounds(report.n, problem.element_bytes, problem.memory_limit);
  return report;
}

void measure_ceiling(report::RunReport& report, const linalg::Kernels& kernels,
                     const CholeskyProblem& problem) {
  linalg::RateSettings settings;
  settings.tile = problem.tile;
  settings.threads = static_cast<int>(report.workers);
  const linalg::KernelRates rates = problem.element_bytes == 8
                                        ? linalg::measure<double>(kernels.blas(), settings)
                                        : linalg::measure<float>(kernels.blas(), settings);
  const report::TileRates tile{rates.gemm, rates.syrk, rates.trsm, rates.potrf};
  report.tile_rates = tile;
  report.gemm_peak_gflops = rates.gemm * report.workers;
  report.ceiling = report::cholesky_ceiling(report.n, report.tile, tile, report.workers);
  report.ceiling_gflops = report::cholesky_ceiling_gflops(report.n, report.tile, tile, report.workers);
}

void publish(const report::RunReport& report, const Config& config) {
  fmt::print("{}", report::text(report));
  if (!config.has("json")) return;
  write_json(config.text("json"), report::json(report));
  fmt::print("\nThe same as JSON: {}\n", config.text("json"));
}

void require_place_for_report(const Config& config) {
  if (config.has("json") && is_file_or_nothing(config.text("json")))
    data::OutputFile{config.text("json"), 0};  // without a name, and gone at once
}

void write_json(const std::string& path, const Json& json) {
  const std::string text = json.text();
  if (is_file_or_nothing(path)) {
    data::OutputFile file(path, 0);
    file.write(0, std::as_bytes(std::span(text)));
    file.commit();
    return;
  }
  errno = 0;
  std::ofstream stream(path);
  stream << text;
  stream.close();
  if (!stream)
    throw SystemError(
        fmt::format("cannot write {}: {}", path, std::generic_category().message(errno != 0 ? errno : EIO)));
}

}  // namespace fairlead::app
