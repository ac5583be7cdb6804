// The report of a dense factorization, solve or product: what the engine and the system counted between two moments of any
// execution.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/core_time.hpp"
#include "net/protocol.hpp"
#include "report/resident.hpp"
#include "report/run_report.hpp"
#include "solver/dense_problem.hpp"

namespace fairlead::solver {

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

/// The part of the report that follows from the counts, for the time between them, and the machine. The
/// caller fills in time, phases and error.
report::RunReport report_between(const RunCounters& before, const RunCounters& after, const Config& config,
                                 const linalg::Kernels& kernels, const DenseProblem& problem);
/// What limited the run, once time and phases are known; between the two moments it computed.
void find_limit(report::RunReport& report, const RunCounters& before, const RunCounters& after);

/// Times the kernels on all workers' cores at once, for the ceiling and the GEMM peak; a second or two. The
/// runtime should be gone: its memory is not needed any more, and its threads would take time.
void measure_ceiling(report::RunReport& report, const linalg::Kernels& kernels, const DenseProblem& problem);

}  // namespace fairlead::solver
