// Writes the results of an experiment as a section of a Markdown page.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/output_formats.hpp"
#include "experiment/output_numbers.hpp"
#include "report/table_cells.hpp"

namespace fairlead::experiment {

namespace {

/// The metrics that the page lists for every line. None with claims: they would only make the page long, and
/// the command writes them to CSV.
std::vector<Metric> metrics_of_every_line(const Experiment& experiment) {
  return experiment.claims.empty() ? experiment.metrics : std::vector<Metric>();
}

}  // namespace

std::string markdown(const Experiment& experiment, const Table& table) {
  std::string out = fmt::format("### {}: {}\n\n{}", experiment.name, experiment.title, experiment.paper);
  if (!experiment.notes.empty()) out += fmt::format(" {}", experiment.notes);
  if (std::ranges::any_of(table.series, several_seeds))
    out += fmt::format(" Means over {} seeds; in brackets the least and the most.", experiment.seeds);
  out += "\n\n";
  const auto values = judge_values(experiment, table);
  if (!values.empty()) out += "| | paper | Fairlead | ratio | verdict |\n|---|---|---|---|---|\n";
  for (const ValueVerdict& one : values)
    out += fmt::format(
        "| {}, {} | {} | {} | {} | {}{} |\n", report::markdown_cell(one.value->line),
        unit_of(one.value->metric), short_number(one.value->value),
        one.here ? short_number(*one.here) + in_brackets(text_of(one.range)) : "",
        one.here ? fmt::format("{:.2f}", *one.here / one.value->value) : "", name_of(one.verdict),
        one.value->note.empty() ? "" : fmt::format(": {}", report::markdown_cell(one.value->note)));
  if (!values.empty()) out += "\n";
  if (!experiment.claims.empty())
    out += "| claim | here | verdict | why, where it differs |\n|---|---|---|---|\n";
  for (const ClaimVerdict& one : judge_claims(experiment, table))
    out += fmt::format("| {} | {} | {} | {} |\n", report::markdown_cell(one.claim->text),
                       report::markdown_cell(one.found), name_of(one.verdict),
                       one.holds == false ? report::markdown_cell(one.claim->reason) : "");
  if (!experiment.claims.empty()) out += "\n";
  // Limits the columns to the width of a page: both ends, and some x in between.
  std::vector<std::size_t> shown;
  const std::size_t most = 8;
  for (std::size_t i = 0; i < std::min(most, table.x.size()); ++i)
    shown.push_back(table.x.size() <= most ? i : i * (table.x.size() - 1) / (most - 1));
  for (const Metric metric : metrics_of_every_line(experiment)) {
    out += fmt::format("| {} |", unit_of(metric));
    for (const std::size_t at : shown) out += fmt::format(" {} {:g} |", experiment.sweep, table.x[at]);
    out += "\n|---|";
    for (std::size_t i = 0; i < shown.size(); ++i) out += "---|";
    out += "\n";
    for (const Series& series : table.series) {
      out += fmt::format("| {} |", report::markdown_cell(series.label));
      for (const std::size_t at : shown)
        out += fmt::format(" {}{} |", cell(series.points[at], metric),
                           in_brackets(text_of(series.range(at, metric))));
      out += "\n";
    }
    for (const auto& [label, bound] : bounds_of(metric)) {
      if (!is_known(table, bound)) continue;
      out += fmt::format("| *{}* |", label);
      for (const std::size_t at : shown)
        out += fmt::format(" {} |", short_number(bound_at(table, at, bound)));
      out += "\n";
    }
    out += "\n";
  }
  for (const Line& line : experiment.lines)
    if (!line.note.empty()) out += fmt::format("- {}: {}\n", line.label, line.note);
  return out + "\n";
}

}  // namespace fairlead::experiment
