// The report page of simulated runs.
#pragma once
#include "report/comparison.hpp"
#include "simulate/run_outcome.hpp"

namespace fairlead::simulate {

/// The bounds, without runs.
report::Comparison comparison_of(const Program& program, const SimulatedMachine& machine,
                                 const Limits& limits);

/// Adds a run, and its order of tasks if it was recorded. `workload` as the user wrote it: "qr:tree=binary".
void add_run(report::Comparison& to, const Program& program, const SimulatedMachine& machine,
             const Limits& limits, const WorkloadSize& size, const std::string& workload,
             const RunOutcome& outcome);

}  // namespace fairlead::simulate
