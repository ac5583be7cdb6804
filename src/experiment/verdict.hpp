// What came out beside what the paper says.
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
  shown,    ///< nothing was said that could be judged
  missing,  ///< it was not run, or did not finish
};
std::string_view name_of(Verdict verdict) noexcept;

/// Of each line at each x; the mean over its runs. Nothing where one did not finish.
struct Series {
  std::string label;
  std::vector<std::optional<Figures>> points;  ///< by place in `x`
  std::vector<std::string> problems;           ///< of runs that did not finish
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
  Verdict verdict{};
};
struct ClaimVerdict {
  const Claim* claim = nullptr;
  Verdict verdict{};
  std::string found;  ///< what is so here: figures
};
std::vector<ValueVerdict> judge_values(const Experiment& experiment, const Table& table);
std::vector<ClaimVerdict> judge_claims(const Experiment& experiment, const Table& table);

}  // namespace fairlead::experiment
