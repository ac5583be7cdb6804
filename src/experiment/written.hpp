// An experiment's results as people and programs read them.
#pragma once
#include <string>
#include <vector>

#include "experiment/verdict.hpp"

namespace fairlead::experiment {

/// The paper's values and claims, what is so here, and verdicts; then every line at every x.
std::string text(const Experiment& experiment, const Table& table);
/// One row for each line and x, with every figure.
std::string csv(const Experiment& experiment, const Table& table);
/// The paper's values and claims with what is so here, and verdicts: an object (JSON).
std::string json(const Experiment& experiment, const Table& table);
/// One picture for each metric: (its name, SVG).
std::vector<std::pair<std::string, std::string>> pictures(const Experiment& experiment, const Table& table);
/// A section of docs/papers-simulated.md.
std::string markdown(const Experiment& experiment, const Table& table);

}  // namespace fairlead::experiment
