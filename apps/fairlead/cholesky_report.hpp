// The report of a Cholesky factorization or solve: what the engine and the system counted between two
// moments.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <optional>

#include "report/resident.hpp"
#include "report/run_report.hpp"

namespace fairlead::app {

/// What has been counted so far.
struct Counts {
  Statistics engine;
  std::optional<report::DiskCounters> kernel;
};
Counts counts_of(const Runtime& runtime);

struct CholeskyProblem {
  const char* operation = "";  ///< "Cholesky solve"
  std::int64_t n = 0;
  std::int32_t tile = 0;
  std::size_t element_bytes = 8;
  Bytes memory_limit = 0;
  Bytes reserved = 0;  ///< of the limit, for what is not tiles

  /// All tiles of the lower triangle are in memory at once.
  bool fits() const noexcept;
};

/// Throws ConfigError if the scheduler that was asked for does not exist; to be called before anything takes
/// time.
void check_scheduler(const Config& config);

/// All of the report that `counts` tell, which is that of the time between them, and the machine. Time,
/// phases and error are the caller's to fill in.
report::RunReport report_between(const Counts& before, const Counts& after, const Config& config,
                                 const linalg::Kernels& kernels, const CholeskyProblem& problem);

/// Times the kernels on all workers' cores at once, for the ceiling and the GEMM peak; a second or two. The
/// runtime should be gone: its memory is not needed any more, and its threads would take time.
void measure_ceiling(report::RunReport& report, const linalg::Kernels& kernels,
                     const CholeskyProblem& problem);

/// Prints the page, and writes the JSON if the settings ask for it. Throws SystemError.
void publish(const report::RunReport& report, const Config& config);

/// Throws SystemError if publish() could not write the JSON: to be asked before the work is done.
void require_place_for_report(const Config& config);

/// Throws SystemError if it cannot be written; then there is nothing of it.
void write_json(const std::string& path, const Json& json);

}  // namespace fairlead::app
