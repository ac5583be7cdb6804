// Results for a terminal: tables in columns.
#include "experiment/output_formats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/output_numbers.hpp"
#include "report/units.hpp"

namespace fairlead::experiment {

namespace {

/// Pads each column to its widest cell, at least `least`. The first column is left-aligned, the others
/// right-aligned. A cell beyond the last column is appended without padding.
std::string in_columns(const std::vector<std::vector<std::string>>& rows, std::vector<std::size_t> least) {
  std::vector<std::size_t>& widths = least;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i)
      widths[i] = std::max(widths[i], report::characters_of(row[i]) + (i == 0 ? 0 : 1));
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(i < widths.size() ? widths[i] - report::characters_of(row[i]) : 0, ' ');
      out += i == 0 ? row[i] + space : space + row[i];
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::string text(const Experiment& experiment, const Table& table) {
  std::string out = fmt::format("{}: {}\n{}\n", experiment.name, experiment.title, experiment.paper);
  if (std::ranges::any_of(table.series, several_seeds))
    out += fmt::format("means over {} seeds, with the least and the most\n", experiment.seeds);
  out += "\n";
  const auto values = judge_values(experiment, table);
  std::vector<std::vector<std::string>> rows;
  if (!values.empty()) rows.push_back({"", "paper", "Fairlead", "ratio", "  verdict"});
  for (const ValueVerdict& one : values)
    rows.push_back({fmt::format("{}, {}", one.value->line, unit_of(one.value->metric)),
                    short_number(one.value->value),
                    (one.here ? short_number(*one.here) : "-") + in_brackets(text_of(one.range)),
                    one.here ? fmt::format("{:.2f}", *one.here / one.value->value) : "-",
                    fmt::format("  {}{}", name_of(one.verdict), in_brackets(one.value->note))});
  out += in_columns(rows, {28, 12, 12, 8});
  if (!values.empty()) out += "\n";
  for (const ClaimVerdict& one : judge_claims(experiment, table))
    out += fmt::format("{:<12}{}\n            {}\n", name_of(one.verdict), one.claim->text, one.found);
  if (!experiment.claims.empty()) out += "\n";
  for (const Metric metric : experiment.metrics) {
    rows = {{""}};
    const auto add_row = [&](const std::string& label, auto&& cell_at) {
      rows.push_back({label});
      for (std::size_t at = 0; at < table.x.size(); ++at) rows.back().push_back(cell_at(at));
    };
    for (const double x : table.x) rows[0].push_back(fmt::format("{:g}", x));
    for (const Series& series : table.series) {
      add_row(series.label, [&](std::size_t at) { return cell(series.points[at], metric); });
      if (several_seeds(series))
        add_row("  least-most", [&](std::size_t at) { return text_of(series.range(at, metric)); });
    }
    for (const auto& [label, one] : bounds_of(metric))
      if (is_known(table, one))
        add_row(label, [&, bound = one](std::size_t at) { return short_number(bound_at(table, at, bound)); });
    std::vector<std::size_t> least(table.x.size() + 1, 9);
    least[0] = 26;
    out +=
        fmt::format("{} by {}\n{}\n", unit_of(metric), experiment.sweep, in_columns(rows, std::move(least)));
  }
  for (const Series& series : table.series)
    for (const std::string& problem : series.problems)
      out += fmt::format("{} did not finish: {}\n", series.label, problem);
  return out;
}

}  // namespace fairlead::experiment
