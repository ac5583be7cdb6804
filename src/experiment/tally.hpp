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

/// Of one paper. Inputs, duplicates, ties and variants are apart: they are no evidence that the paper's results are reproduced.
struct PaperTally {
  std::string paper;
  VerdictCounts claims, values;
  std::size_t inputs = 0, duplicates = 0, ties = 0, variants = 0;
};

/// In the order in which the papers come; those without claims and values are left out. A paper is known by
/// what its experiments' `paper` says up to the year.
std::vector<PaperTally> tally_of(std::span<const ExperimentOutcome> all);
/// As a section of docs/papers-simulated.md, with the sum in the last row. Empty if nothing has a verdict.
std::string tally(std::span<const ExperimentOutcome> all);

}  // namespace fairlead::experiment
