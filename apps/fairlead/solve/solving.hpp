// `fairlead solve` on one rank or several: solves a system, and writes the solution and the reports.
#pragma once
#include <fairlead/config.hpp>

#include "fairlead/ranks/command_ranks.hpp"
#include "solver/linear_system.hpp"

namespace fairlead::app {

/// Solves on one rank or on each of several; the first writes the solution and the reports. `options`: without
/// the precision of the factor, which --refine and --tf32 decide. Returns an ExitCode.
int solve(const solver::LinearSystem& system, const solver::SolveOptions& options, const Config& config,
          CommandRanks& ranks);

}  // namespace fairlead::app
