// One program on one machine under one policy or several, beside what bounds all of them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/run_report.hpp"
#include "report/task_order.hpp"

namespace fairlead::report {

/// What a worker did when, the first task first.
struct Timeline {
  struct Span {
    double start = 0, end = 0;  ///< seconds
    std::uint16_t kind = 0;     ///< in Comparison::kinds
  };
  std::string worker;
  std::vector<Span> spans;
};

struct ComparedRun {
  RunReport report;
  std::string problem;  ///< why it did not finish; empty if it did. Then the report has only its setting
  /// All links of a sort as one, each copy once: "disk", "devices", "between devices".
  std::vector<LinkReport> totals;
  double decision_nanoseconds = 0;  ///< of real time, that the policy took for a task
  std::vector<Timeline> timelines;  ///< of each worker; empty: not kept
};

struct Comparison {
  double compute_seconds = 0;        ///< all workers at their best all the time
  double critical_path_seconds = 0;  ///< each task of it on the fastest worker
  double gflops_at_best = 0;         ///< in `compute_seconds`
  /// Of which of the totals the next two bound what comes from home.
  std::string bounded_total;
  Bytes bus_limit_bytes = 0;  ///< what gets through in `compute_seconds`
  std::optional<IoBounds> io;
  std::vector<ComparedRun> runs;
  std::vector<std::string> kinds;  ///< of tasks
  TaskOrder order;

  double percent_of_peak(const RunReport& report) const noexcept {
    return 100 * compute_seconds / report.seconds;
  }
};

}  // namespace fairlead::report
