// What one simulated run came to, beside what bounds it: as a line of a table and as JSON.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "report/bounds.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {

/// What every policy is compared with: of a program on a machine.
struct Limits {
  double flops = 0;
  TimeBounds time;
  double bus_limit_bytes = 0;  ///< what can be brought to the devices (or from the disk) in `time.compute`
  std::optional<report::IoBounds> io;  ///< for all the memories that tasks work in, as one

  double gflops_at_best() const noexcept { return flops / time.compute * 1e-9; }
};
/// `workload` null: a recorded program, for which no bound of the bytes is known.
Limits limits_of(const Program& program, const SimulatedMachine& machine, const Workload* workload,
                 const WorkloadSize& size);

struct Outcome {
  std::string scheduler;
  std::uint64_t seed = 0;
  std::string problem;  ///< why it did not finish; empty if it did. Then nothing else means anything
  SimulationResult result;
};

/// simulate(), but a run that does not finish is an outcome, too. Mistakes of the caller are thrown.
Outcome outcome_of(const Program& program, const SimulatedMachine& machine, const std::string& policy,
                   const SimulationOptions& options);

double gflops(const Outcome& outcome, const Limits& limits) noexcept;
/// Of the time in which all workers would have done their best all the time.
double percent_of_peak(const Outcome& outcome, const Limits& limits) noexcept;
/// What came to where tasks run: from the host to devices, or from the disk if there are none.
Bytes bytes_loaded(const Outcome& outcome) noexcept;
/// Of real time, that the policy took for a task.
double decision_nanoseconds(const Outcome& outcome) noexcept;

/// Names with units, bytes in bytes. Without rates and times if the run did not finish. `workload`: as it was
/// asked for; of a recorded program its n and tile are 0, and not written.
Json json(const Outcome& outcome, const Limits& limits, const Program& program,
          const SimulatedMachine& machine, const std::string& workload, const WorkloadSize& size);

/// For people: "48.6 GB", and three digits of what is less than one: "0.0147 GB".
std::string gigabytes(double bytes);
std::string gigabytes(Bytes bytes);
/// `width`: of the column of schedulers.
std::string table_heading(bool devices, std::size_t width);
/// One line, without a newline.
std::string table_line(const Outcome& outcome, const Limits& limits, bool devices, std::size_t width);

}  // namespace fairlead::simulate
