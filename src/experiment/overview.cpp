// Collects the policies of all experiments as columns, and formats one row per experiment.
#include "experiment/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "experiment/tally.hpp"
#include "report/table_cells.hpp"

namespace fairlead::experiment {

namespace {

std::string brief_number(double value) {
  return value >= 10 ? fmt::format("{:.0f}", value) : fmt::format("{:.2g}", value);
}

struct Bound {
  const char* label;
  double (*value)(const Figures&);
};

bool is_row(const ExperimentOutcome& outcome) {
  return outcome.experiment->every_policy && !outcome.table.x.empty();
}

/// The union of the lines of all rows in order of appearance: every policy, then lines that single
/// experiments add.
std::vector<std::string> policy_labels(std::span<const ExperimentOutcome> all) {
  std::vector<std::string> labels;
  for (const ExperimentOutcome& outcome : all)
    for (const Series& series : outcome.table.series)
      if (is_row(outcome) && std::ranges::find(labels, series.label) == labels.end())
        labels.push_back(series.label);
  return labels;
}

struct Column {
  const char* unit;
  double (*value)(const Figures&);
  bool more_is_better;
};
constexpr Column rates{"% of peak", [](const Figures& figures) { return figures.percent_of_peak; }, true};
constexpr Column bytes{
    "GB moved",
    [](const Figures& figures) { return figures.of(Metric::gigabytes_moved) + figures.gigabytes_from_disk; },
    false};

std::string row(const ExperimentOutcome& outcome, const std::vector<std::string>& labels,
                const Column& column, std::span<const Bound> bounds) {
  const std::size_t at = outcome.table.x.size() - 1;
  std::optional<Figures> any_point;
  std::optional<double> best;
  double most = 0;
  for (const Series& series : outcome.table.series)
    if (const auto& point = series.points[at]) {
      const double value = column.value(*point);
      if (!best || (column.more_is_better ? value > *best : value < *best)) best = value;
      most = std::max(most, value);
      any_point = point;
    }
  if (!any_point || most == 0) return "";  // no bytes are moved if cores use all data in place
  std::string out = fmt::format("| {}, {:g} {} |", report::markdown_cell(outcome.experiment->title),
                                outcome.table.x[at], outcome.experiment->sweep);
  for (const std::string& label : labels) {
    const Series* series = outcome.table.find(label);
    if (series == nullptr || !series->points[at]) {
      out += " |";
      continue;
    }
    const double value = column.value(*series->points[at]);
    const std::string_view mark = value == *best ? "**" : "";
    out += fmt::format(" {}{}{} |", mark, brief_number(value), mark);
  }
  for (const Bound& bound : bounds) {
    const double value = bound.value(*any_point);
    out += value > 0 ? fmt::format(" {} |", brief_number(value)) : " |";
  }
  return out + "\n";
}

std::string overview_table(std::span<const ExperimentOutcome> all, const std::vector<std::string>& labels,
                           const Column& column, std::span<const Bound> bounds) {
  std::string out = fmt::format("| {} |", column.unit), line = "|---|";
  for (const std::string& label : labels)
    out += fmt::format(" {} |", report::markdown_cell(label)), line += "---|";
  for (const Bound& bound : bounds) out += fmt::format(" *{}* |", bound.label), line += "---|";
  out += "\n" + line + "\n";
  for (const ExperimentOutcome& outcome : all)
    if (is_row(outcome)) out += row(outcome, labels, column, bounds);
  return out;
}

}  // namespace

double critical_path_percent(const Figures& figures) {
  return figures.best_gflops > 0 ? std::min(100.0, 100 * figures.critical_path_gflops / figures.best_gflops)
                                 : 0;
}

std::string overview(std::span<const ExperimentOutcome> all) {
  const std::vector<std::string> labels = policy_labels(all);
  if (labels.empty()) return "";
  constexpr Bound rate_bounds[] = {{"critical path", critical_path_percent}};
  constexpr Bound byte_bounds[] = {
      {"lower bound of loads", [](const Figures& figures) { return figures.lower_bound_gigabytes; }},
      {"floor of loads", [](const Figures& figures) { return figures.floor_gigabytes; }}};
  return tally(all) +
         "### overview: every policy\n\nNot from a paper. Each row is the mean over neighbouring sizes, "
         "since "
         "single sizes are noisy; the command writes the other sizes to `overview.csv`. Bold: the "
         "best.\n\n" +
         overview_table(all, labels, rates, rate_bounds) + "\n" +
         overview_table(all, labels, bytes, byte_bounds) + "\n";
}

std::string overview_csv(std::span<const ExperimentOutcome> all) {
  std::string out =
      "experiment,x,policy,percent_of_peak,gflops,gigabytes_moved,gigabytes_from_disk,critical_path_percent,"
      "lower_bound_"
      "gigabytes,floor_gigabytes\n";
  for (const ExperimentOutcome& outcome : all)
    for (std::size_t at = 0; is_row(outcome) && at < outcome.table.x.size(); ++at)
      for (const Series& series : outcome.table.series) {
        if (!series.points[at]) continue;
        const Figures& f = *series.points[at];
        out += fmt::format("{},{:g},{},{},{},{},{},{},{},{}\n", outcome.experiment->name, outcome.table.x[at],
                           report::csv_cell(series.label), f.percent_of_peak, f.gflops,
                           f.of(Metric::gigabytes_moved), f.gigabytes_from_disk, critical_path_percent(f),
                           f.lower_bound_gigabytes, f.floor_gigabytes);
      }
  return out;
}

}  // namespace fairlead::experiment
