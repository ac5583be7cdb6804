// The report of a dense factorization, solve or product: what the engine and the system counted between two
// moments.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <optional>

#include "fairlead/dense_problem.hpp"
#include "report/resident.hpp"
#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::app {

/// What has been counted so far.
struct Counts {
  Statistics engine;
  std::optional<report::DiskCounters> kernel;  // by the system's
  linalg::KernelCounts kernels;
};
Counts counts_of(const Runtime& runtime, const linalg::Kernels& kernels);

/// Throws ConfigError if the scheduler that was asked for does not exist; to be called before anything takes
/// time.
void check_scheduler(const Config& config);

/// All of the report that `counts` tell, which is that of the time between them, and the machine. Time,
/// phases and error are the caller's to fill in.
report::RunReport report_between(const Counts& before, const Counts& after, const Config& config,
                                 const linalg::Kernels& kernels, const DenseProblem& problem);

/// Times the kernels on all workers' cores at once, for the ceiling and the GEMM peak; a second or two. The
/// runtime should be gone: its memory is not needed any more, and its threads would take time.
void measure_ceiling(report::RunReport& report, const linalg::Kernels& kernels, const DenseProblem& problem);

/// Prints the report, and writes JSON, page and trace if the settings ask for them. `recorded` is what the
/// runtime recorded; it may be gone by now. Throws SystemError.
void publish(const report::RunReport& report, const Config& config, const trace::Snapshot& recorded);

/// Throws SystemError if publish() could not write one of the files: to be asked before the work is done.
void require_place_for_report(const Config& config);

/// Throws SystemError if it cannot be written; then there is nothing of it.
void write_json(const std::string& path, const Json& json);

}  // namespace fairlead::app
