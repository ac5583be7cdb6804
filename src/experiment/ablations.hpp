// Ablation tables: the time without one component relative to the time with all, over many experiments.
#pragma once
#include <span>
#include <string>

#include "experiment/verdict.hpp"

namespace fairlead::experiment {

/// Markdown: a table per experiment that was laid out `over` others, with a row per line except the first,
/// which is the baseline. Empty if there is no such experiment.
std::string ablations(std::span<const ExperimentOutcome> all);
/// The same point by point, as CSV: experiment,x,line,ratio.
std::string ablations_csv(std::span<const ExperimentOutcome> all);

}  // namespace fairlead::experiment
