// Ratios of times to the baseline: above 1, the run is slower without the component.
#include "experiment/ablations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "report/table_cells.hpp"

namespace fairlead::experiment {

namespace {

/// Calls f(experiment, x, ratio) for each point at which both the line and the first one finished.
template <class F>
void at_each_point(std::span<const ExperimentOutcome> all, std::string_view name, std::string_view label,
                   F&& f) {
  for (const ExperimentOutcome& outcome : all) {
    if (outcome.experiment->over != name) continue;
    const Series *const line = outcome.table.find(label), &whole = outcome.table.series.front();
    for (std::size_t at = 0; line != nullptr && at < outcome.table.x.size(); ++at)
      if (line->points[at] && whole.points[at] && whole.points[at]->seconds > 0)
        f(*outcome.experiment, outcome.table.x[at], line->points[at]->seconds / whole.points[at]->seconds);
  }
}

/// Calls f once for each experiment that was laid out over others.
template <class F>
void for_each_ablation(std::span<const ExperimentOutcome> all, F&& f) {
  std::set<std::string> seen;
  for (const ExperimentOutcome& outcome : all)
    if (!outcome.experiment->over.empty() && !outcome.table.series.empty() &&
        seen.insert(outcome.experiment->over).second)
      f(*outcome.experiment);
}

}  // namespace

std::string ablations(std::span<const ExperimentOutcome> all) {
  std::string out;
  for_each_ablation(all, [&](const Experiment& lines) {
    out += fmt::format(
        "### {}\n\nTime over that of {}, in the same case.\n\n| | cases | geometric mean | worst | best | "
        "more than 3 % "
        "slower | more than 3 % faster |\n|---|---|---|---|---|---|---|\n",
        lines.over, report::markdown_cell(lines.lines.front().label));
    for (std::size_t i = 1; i < lines.lines.size(); ++i) {
      std::vector<double> ratios;
      double logarithms = 0;
      at_each_point(all, lines.over, lines.lines[i].label, [&](const Experiment&, double, double ratio) {
        ratios.push_back(ratio);
        logarithms += std::log(ratio);
      });
      if (ratios.empty()) continue;
      const auto [least, most] = std::ranges::minmax(ratios);
      out += fmt::format("| {} | {} | {:.3f} | {:.2f} | {:.2f} | {} | {} |\n",
                         report::markdown_cell(lines.lines[i].label), ratios.size(),
                         std::exp(logarithms / static_cast<double>(ratios.size())), most, least,
                         std::ranges::count_if(ratios, [](double ratio) { return ratio > 1.03; }),
                         std::ranges::count_if(ratios, [](double ratio) { return ratio < 1 / 1.03; }));
    }
    out += "\n";
  });
  return out;
}

std::string ablations_csv(std::span<const ExperimentOutcome> all) {
  std::string out = "experiment,x,line,ratio\n";
  for_each_ablation(all, [&](const Experiment& lines) {
    for (std::size_t i = 1; i < lines.lines.size(); ++i)
      at_each_point(all, lines.over, lines.lines[i].label,
                    [&](const Experiment& one, double x, double ratio) {
                      out += fmt::format("{},{:g},{},{:.4f}\n", one.name, x,
                                         report::csv_cell(lines.lines[i].label), ratio);
                    });
  });
  return out;
}

}  // namespace fairlead::experiment
