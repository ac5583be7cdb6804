// The report of linalg::Solver, from the result of a solve and its run.
#pragma once
#include <fairlead/runtime.hpp>
#include <fairlead/solver.hpp>

#include <string>
#include <vector>

#include "report/run_report.hpp"
#include "solver/linear_system.hpp"

namespace fairlead::solver {

struct RunFacts {
  std::vector<report::PhaseReport> phases{};
  std::vector<std::string> warnings{};
  Runtime::Traffic traffic{};
};

linalg::SolveReport library_report(const LinearSystem& system, const SolveResult& result,
                                   const RunFacts& run);

}  // namespace fairlead::solver
