// Compares simulated results with the values and claims of a paper.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "experiment/run.hpp"

namespace fairlead::experiment {

enum class Verdict : std::uint8_t {
  reproduced,
  differs,
  input,      ///< it determined, or follows from, an assumption of the experiment: agreement proves nothing
  duplicate,  ///< holds because of the same figures as a claim that is already counted
  tie,        ///< holds by less than the resolution of the simulation
  variant,    ///< the paper did not run it in this form: shown, but not counted
  missing,    ///< not run, or not finished
};
std::string_view name_of(Verdict verdict) noexcept;

/// One line of a figure. Each point is the mean over the runs around x and over the seeds; nothing if one of
/// these runs did not finish.
struct Series {
  std::string label;
  std::vector<std::optional<Figures>> points;  ///< by index in `x`
  std::vector<std::vector<Figures>> by_seed;   ///< likewise, one list of seeds per point
  std::vector<std::string> problems;           ///< one per run that did not finish

  /// The range over the seeds; nothing with a single seed, or if the point is missing.
  struct Range {
    double least = 0, most = 0;
    bool operator==(const Range&) const = default;
  };
  std::optional<Range> range(std::size_t place, Metric metric) const;
};
struct Table {
  std::vector<double> x;
  std::vector<Series> series;

  const Series* find(std::string_view label) const noexcept;
};
Table table_of(const Experiment& experiment, const Results& results, bool quick);

struct ValueVerdict {
  const PaperValue* value = nullptr;
  std::optional<double> here;
  std::optional<Series::Range> range;
  Verdict verdict{};
};
struct ClaimVerdict {
  const Claim* claim = nullptr;
  Verdict verdict{};
  std::optional<bool> holds;  ///< also set for a variant; nothing if a run is missing
  bool tie = false;           ///< it holds, but at some point by less than the resolution of the simulation
  std::string found;          ///< the simulated figures
};
std::vector<ValueVerdict> judge_values(const Experiment& experiment, const Table& table);
std::vector<ClaimVerdict> judge_claims(const Experiment& experiment, const Table& table);

/// An experiment and its results.
struct ExperimentOutcome {
  const Experiment* experiment = nullptr;
  Table table;
};

}  // namespace fairlead::experiment
