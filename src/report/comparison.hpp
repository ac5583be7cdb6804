// Runs of one program on one machine under one or several policies, with their common bounds.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/run_report.hpp"
#include "report/task_order.hpp"

namespace fairlead::report {

/// The tasks of a worker over time, in order.
struct WorkerTimeline {
  struct Span {
    double start = 0, end = 0;  ///< seconds
    std::uint16_t kind = 0;     ///< index in Comparison::kinds
  };
  std::string worker;
  std::vector<Span> spans;
};

struct ComparedRun {
  RunReport report;
  std::string problem;  ///< why it did not finish; empty if it did. Otherwise the report has only the setting
  /// Links of each kind added up, each copy counted once: "disk", "devices", "between devices".
  std::vector<LinkReport> totals;
  double decision_nanoseconds = 0;        ///< real time of the policy per task
  std::vector<WorkerTimeline> timelines;  ///< one per worker; empty: not recorded
};

struct Comparison {
  double compute_seconds = 0;        ///< with all workers always busy with their fastest kernels
  double critical_path_seconds = 0;  ///< with each task on the fastest worker
  double gflops_at_best = 0;         ///< the rate for `compute_seconds`
  /// The name of the total whose transfers from home the next two fields bound.
  std::string bounded_total;
  Bytes bus_limit_bytes = 0;  ///< bytes that can be transferred in `compute_seconds`
  std::optional<IoBounds> io;
  std::vector<ComparedRun> runs;
  std::vector<std::string> kinds;  ///< of tasks
  TaskOrder order;

  double percent_of_peak(const RunReport& report) const noexcept {
    return 100 * compute_seconds / report.seconds;
  }
};

}  // namespace fairlead::report
