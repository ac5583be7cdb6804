// A summary of all experiments: the tally of verdicts, and tables of all policies with one row per experiment
// that runs every policy.
#pragma once
#include <span>
#include <string>

#include "experiment/verdict.hpp"

namespace fairlead::experiment {

/// The upper bound on the rate that the critical path imposes, in per cent of the best rate of all
/// processors, at most 100; 0 if unknown.
double critical_path_percent(const Figures& figures);

/// Markdown: the tally of `all`, then two tables of the experiments with `every_policy`, per cent of peak and
/// bytes moved, at the largest x. The best value of each row is bold; the last columns are bounds. Empty if
/// no experiment has `every_policy`.
std::string overview(std::span<const ExperimentOutcome> all);
/// The same experiments at every x as CSV: a line per experiment, x and policy.
std::string overview_csv(std::span<const ExperimentOutcome> all);

}  // namespace fairlead::experiment
