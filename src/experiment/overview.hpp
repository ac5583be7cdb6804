// One table over machines and workloads: experiments that run every policy, a row each.
#pragma once
#include <span>
#include <string>

#include "experiment/verdict.hpp"

namespace fairlead::experiment {

/// An experiment and what came of it.
struct Told {
  const Experiment* experiment = nullptr;
  Table table;
};

/// What all processors could do if tasks waited for the longest chain of them only: per cent of their best,
/// at most 100; 0 if it is not known.
double critical_path_percent(const Figures& figures);

/// Those of `all` with `every_policy`: two tables in Markdown, per cent of peak and bytes moved, at the last
/// x, with the best of each row in bold and the bounds behind. Empty if there is none.
std::string overview(std::span<const Told> all);
/// The same at every x as CSV: a line for each experiment, x and policy.
std::string overview_csv(std::span<const Told> all);

}  // namespace fairlead::experiment
