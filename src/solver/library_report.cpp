// See library_report.hpp.
#include "solver/library_report.hpp"

#include <limits>

#include "solver/method_options.hpp"
#include "solver/solver_options.hpp"

namespace fairlead::solver {

linalg::SolveReport library_report(const LinearSystem& system, const SolveResult& result,
                                   const RunFacts& run) {
  linalg::SolveReport report;
  report.method = method_of(*result.problem.operation);
  report.method_reason = result.method_reason;
  report.rows = system.rows();
  report.columns = system.unknowns();
  report.right_hand_sides = system.right_hand_sides();
  report.precision = system.solution();
  report.backward_error =
      result.is_checked ? result.backward_error : std::numeric_limits<double>::quiet_NaN();
  report.backward_error_limit = result.backward_error_limit;
  report.refinement_steps = result.refinement_steps.value_or(0);
  if (result.condition) {
    report.condition = result.condition->number;
    report.forward_error = result.condition->forward_error;
    report.digits = result.condition->digits;
  }
  report.growth = result.growth;
  report.asymmetry = result.asymmetry;
  if (result.residual) report.residual = result.residual->relative;
  if (result.numerical_rank) report.rank = result.numerical_rank->rank;
  report.tile = result.problem.tile;
  report.seconds = result.seconds;
  for (const report::PhaseReport& phase : run.phases)
    report.phases.push_back({.name = phase.name, .seconds = phase.seconds, .counts = phase.counts});
  report.bytes_read = run.traffic.read;
  report.bytes_written = run.traffic.written;
  for (const std::string& warning : run.warnings) report.warnings.push_back(in_words_of_library(warning));
  return report;
}

}  // namespace fairlead::solver
