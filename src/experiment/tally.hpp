// Counts the verdicts on each paper's claims and values.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "experiment/verdict.hpp"

namespace fairlead::experiment {

struct VerdictCounts {
  std::size_t reproduced = 0, differs = 0, missing = 0;
};

/// The counts of one paper. Inputs, duplicates, ties and variants are counted separately: they are not
/// evidence that the results of the paper are reproduced.
struct PaperTally {
  std::string paper;
  VerdictCounts claims, values;
  std::size_t inputs = 0, duplicates = 0, ties = 0, variants = 0;
};

/// The tallies in the order of the papers, without papers that have no claims or values. A paper is
/// identified by the text of `paper` up to the year.
std::vector<PaperTally> tally_of(std::span<const ExperimentOutcome> all);
/// A section of docs/papers-simulated.md, with the sum in the last row. Empty without verdicts.
std::string tally(std::span<const ExperimentOutcome> all);

}  // namespace fairlead::experiment
