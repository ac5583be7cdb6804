// Formats the results of an experiment as text, CSV, JSON, SVG and Markdown.
#pragma once
#include <string>
#include <vector>

#include "experiment/verdict.hpp"

namespace fairlead::experiment {

/// For a terminal: the values and claims of the paper with simulated values and verdicts, then every line at
/// every x.
std::string text(const Experiment& experiment, const Table& table);
/// One row per line and x, with all figures.
std::string csv(const Experiment& experiment, const Table& table);
/// A JSON object: the values and claims of the paper with simulated values and verdicts.
std::string json(const Experiment& experiment, const Table& table);
/// One chart per metric: (name of the metric, SVG).
std::vector<std::pair<std::string, std::string>> pictures(const Experiment& experiment, const Table& table);
/// A section of docs/papers-simulated.md.
std::string markdown(const Experiment& experiment, const Table& table);

}  // namespace fairlead::experiment
