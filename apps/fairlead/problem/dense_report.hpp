// The report of a dense factorization, solve or product: what the engine and the system counted between two
// moments.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <array>
#include <chrono>
#include <optional>
#include <span>

#include "base/core_time.hpp"
#include "net/protocol.hpp"
#include "report/resident.hpp"
#include "report/run_report.hpp"
#include "solver/dense_problem.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::app {

using solver::DenseProblem;

/// What has been counted so far.
struct RunCounters {
  Statistics engine;
  net::NetworkTraffic network;
  std::optional<report::DiskCounters> kernel;  // by the system's
  linalg::KernelCounts kernels;
  std::chrono::steady_clock::time_point at;
  std::vector<std::string> through_ram;             // as RunReport's
  std::vector<std::optional<CoreTime>> core_times;  // by worker
  Duration throttled{};                             // by the control group's quota of CPU time
};
RunCounters counters_of(Runtime& runtime, const linalg::Kernels& kernels);

/// Throws ConfigError if the scheduler does not exist. Call it before anything takes time.
void check_scheduler(const Config& config);

/// The part of the report that follows from the counts, for the time between them, and the machine. The
/// caller fills in time, phases and error.
report::RunReport report_between(const RunCounters& before, const RunCounters& after, const Config& config,
                                 const linalg::Kernels& kernels, const DenseProblem& problem);
/// What limited the run, once time and phases are known; between the two moments it computed.
void find_limit(report::RunReport& report, const RunCounters& before, const RunCounters& after);

/// Times the kernels on all workers' cores at once, for the ceiling and the GEMM peak; a second or two. The
/// runtime should be gone: its memory is not needed any more, and its threads would take time.
void measure_ceiling(report::RunReport& report, const linalg::Kernels& kernels, const DenseProblem& problem);

/// Options of commands that end with a report: how much they print.
inline constexpr std::array report_options{
    Setting{.key = "report-text",
            .type = SettingType::choice,
            .default_value = "short",
            .choices = "short|full",
            .help = "report printed at the end: a few lines, or all figures with their bounds",
            .advanced = true},
    Setting{.key = "quiet",
            .type = SettingType::flag,
            .default_value = "false",
            .help = "print nothing but errors",
            .letter = 'q'}};
/// Turns progress off if --quiet is given.
void apply_quiet(Config& config);

/// Prints the report, and writes JSON, page and trace if the settings ask for them. `recorded` is what the
/// runtime recorded, by rank and never empty; it may be gone by now. Throws SystemError.
void publish(const report::RunReport& report, const Config& config,
             std::span<const trace::Snapshot> recorded);

/// Throws SystemError if publish() could not write one of the files. Call it before the work.
void require_place_for_report(const Config& config);

/// Throws SystemError if it cannot be written; no partial file remains.
void write_json(const std::string& path, const Json& json);

}  // namespace fairlead::app
