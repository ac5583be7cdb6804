// What is said of all experiments together: the tally of verdicts, and one table over machines and workloads,
// a row for each experiment that runs every policy.
#pragma once
#include <span>
#include <string>

#include "experiment/verdict.hpp"

namespace fairlead::experiment {

/// What all processors could do if tasks waited for the longest chain of them only: per cent of their best,
/// at most 100; 0 if it is not known.
double critical_path_percent(const Figures& figures);

/// Those of `all` with `every_policy`: two tables in Markdown, per cent of peak and bytes moved, at the last
/// x, with the best of each row in bold and the bounds behind; before them the tally of all. Empty if there
/// is none.
std::string overview(std::span<const ExperimentOutcome> all);
/// The same at every x as CSV: a line for each experiment, x and policy.
std::string overview_csv(std::span<const ExperimentOutcome> all);

}  // namespace fairlead::experiment
