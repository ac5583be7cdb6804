// What each piece of something is worth: the time without it over the time with all, over many experiments.
#pragma once
#include <span>
#include <string>

#include "experiment/verdict.hpp"

namespace fairlead::experiment {

/// In Markdown, a table for each experiment that was laid out `over` others, with a row for each line but the first,
/// which is what they are compared with; empty if there is none.
std::string ablations(std::span<const ExperimentOutcome> all);
/// The same point by point, as CSV: experiment,x,line,ratio.
std::string ablations_csv(std::span<const ExperimentOutcome> all);

}  // namespace fairlead::experiment
