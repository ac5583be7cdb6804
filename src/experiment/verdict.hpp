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
  input,  ///< an assumption of the experiment was chosen by it, or implies it: the agreement proves nothing
  duplicate,  ///< it holds, by the figures by which another claim holds that is counted already
  tie,        ///< it holds by less than the simulation resolves
  variant,    ///< of something that the paper did not run, or not so: shown, and in no tally
  missing,    ///< it was not run, or did not finish
};
std::string_view name_of(Verdict verdict) noexcept;

/// Of each line at each x; the mean over the runs around it and over the seeds. Nothing where one did not
/// finish.
struct Series {
  std::string label;
  std::vector<std::optional<Figures>> points;  ///< by place in `x`
  std::vector<std::vector<Figures>> by_seed;   ///< likewise: what the point is the mean of
  std::vector<std::string> problems;           ///< of runs that did not finish

  /// How far seeds differ. Nothing where there is one, or the point is missing.
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
  std::optional<bool> holds;  ///< also of a variant; nothing where a run is missing
  bool tie = false;           ///< it holds, but at some point by less than the simulation resolves
  std::string found;          ///< what is so here: figures
};
std::vector<ValueVerdict> judge_values(const Experiment& experiment, const Table& table);
std::vector<ClaimVerdict> judge_claims(const Experiment& experiment, const Table& table);

/// An experiment and its results.
struct ExperimentOutcome {
  const Experiment* experiment = nullptr;
  Table table;
};

}  // namespace fairlead::experiment
