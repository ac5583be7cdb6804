// The outcome of one simulated run, with its lower bounds, as a line of a table and as JSON.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "report/bounds.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {

/// The lower bounds of a program on a machine, with which every policy is compared.
struct Limits {
  double flops = 0;
  TimeBounds time;
  /// Bytes that can be transferred to the devices (or from the disk) in `time.compute`
  double bus_limit_bytes = 0;
  std::optional<report::IoBounds> io;  ///< for the memories in which tasks work, as one memory

  double gflops_at_best() const noexcept { return flops / time.compute * 1e-9; }
};
/// `workload` null: a recorded program, without bounds of its bytes.
Limits limits_of(const Program& program, const SimulatedMachine& machine, const Workload* workload,
                 const WorkloadSize& size);

/// One simulated run.
struct RunOutcome {
  std::string scheduler;
  std::uint64_t seed = 0;
  std::string problem;  ///< why it did not finish; empty if it did. Otherwise the result is meaningless
  SimulationResult result;
};

/// Calls simulate(), and converts a run that does not finish to an outcome. Configuration and system errors are thrown.
RunOutcome outcome_of(const Program& program, const SimulatedMachine& machine, const std::string& policy,
                      const SimulationOptions& options);
/// The same with a policy object; `policy_name` is for reports.
RunOutcome outcome_of(const Program& program, const SimulatedMachine& machine, std::unique_ptr<Policy> policy,
                      const std::string& policy_name, const SimulationOptions& options);

double gflops(const RunOutcome& outcome, const Limits& limits) noexcept;
/// The ratio of the compute bound to the actual time.
double percent_of_peak(const RunOutcome& outcome, const Limits& limits) noexcept;
/// Bytes loaded where tasks run: from the host to devices, or from the disk if there are no devices.
Bytes bytes_loaded(const RunOutcome& outcome) noexcept;
/// Real time of the policy per task.
double decision_nanoseconds(const RunOutcome& outcome) noexcept;

/// Names include units; bytes are in bytes. Rates and times are omitted if the run did not finish. `workload`: as the
/// user wrote it. A recorded program has n and tile 0, which are omitted.
Json json(const RunOutcome& outcome, const Limits& limits, const Program& program,
          const SimulatedMachine& machine, const std::string& workload, const WorkloadSize& size);

/// For display: "48.6 GB"; three significant digits below one: "0.0147 GB".
std::string gigabytes(double bytes);
std::string gigabytes(Bytes bytes);
/// `width`: of the column of schedulers.
std::string table_heading(bool devices, std::size_t width);
/// One line, without a newline.
std::string table_line(const RunOutcome& outcome, const Limits& limits, bool devices, std::size_t width);

}  // namespace fairlead::simulate
