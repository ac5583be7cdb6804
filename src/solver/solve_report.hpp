// The part of a report that follows from the result of a solve.
#pragma once
#include "report/run_report.hpp"
#include "solver/linear_system.hpp"

namespace fairlead::solver {

/// The time, the accuracy, the inputs, and the bytes that were read from A. Others fill in the counts.
void add_result(report::RunReport& report, const LinearSystem& system, const SolveOptions& options,
                const SolveResult& result);

}  // namespace fairlead::solver
