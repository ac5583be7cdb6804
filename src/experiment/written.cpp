// Tables, CSV, pictures and the page's sections.
#include "experiment/written.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/cells.hpp"
#include "experiment/chart.hpp"
#include "experiment/overview.hpp"
#include "report/units.hpp"

namespace fairlead::experiment {

namespace {

std::string short_number(double value) {
  return value >= 100  ? fmt::format("{:.0f}", value)
         : value >= 10 ? fmt::format("{:.1f}", value)
                       : fmt::format("{:.3g}", value);
}

std::string cell(const std::optional<Figures>& point, Metric metric) {
  return point ? short_number(point->of(metric)) : std::string("-");
}

std::string text_of(const std::optional<Series::Range>& range) {
  return range ? fmt::format("{}-{}", short_number(range->least), short_number(range->most)) : "";
}
std::string in_brackets(const std::string& text) { return text.empty() ? "" : fmt::format(" ({})", text); }

/// As wide as the widest of their cells, and as `least`; the first from the left, others from the right. A
/// cell more than there are columns follows as it is.
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

/// The bounds that go with a metric: bytes that come to the devices, or rates.
std::vector<std::pair<std::string, double (*)(const Figures&)>> bounds_of(Metric metric) {
  constexpr auto lower_bound = [](const Figures& figures) { return figures.lower_bound_gigabytes; };
  constexpr auto floor = [](const Figures& figures) { return figures.floor_gigabytes; };
  switch (metric) {
    case Metric::gflops:
      return {{"all processors at their best", [](const Figures& figures) { return figures.best_gflops; }},
              {"critical path", [](const Figures& figures) { return figures.critical_path_gflops; }}};
    case Metric::percent_of_peak:
      return {{"critical path", critical_path_percent}};
    case Metric::gigabytes_to_devices:
    case Metric::gigabytes_from_disk:
      return {{"bus limit", [](const Figures& figures) { return figures.bus_limit_gigabytes; }},
              {"lower bound", lower_bound},
              {"floor", floor}};
    case Metric::gigabytes_moved:  // what is loaded is a part of it
      return {{"lower bound (loads)", lower_bound}, {"floor (loads)", floor}};
    default:
      return {};
  }
}

bool several_seeds(const Series& series) {
  return std::ranges::any_of(series.by_seed, [](const auto& runs) { return runs.size() > 1; });
}

/// Of any line at that x: bounds do not depend on the policy.
double bound_at(const Table& table, std::size_t at, double (*bound)(const Figures&)) {
  for (const Series& series : table.series)
    if (series.points[at]) return bound(*series.points[at]);
  return 0;
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

std::string csv(const Experiment& experiment, const Table& table) {
  std::string out = fmt::format(
      "line,{},seconds,gflops,percent_of_peak,gigabytes_to_devices,gigabytes_from_devices,gigabytes_between_"
      "devices,"
      "gigabytes_from_disk,bus_limit_gigabytes,lower_bound_gigabytes,floor_gigabytes,best_gflops",
      experiment.sweep);
  const bool ranges = std::ranges::any_of(table.series, several_seeds);
  for (const Metric metric : experiment.metrics)
    if (ranges) out += fmt::format(",least_{0},most_{0}", name_of(metric));
  out += "\n";
  for (const Series& series : table.series)
    for (std::size_t at = 0; at < table.x.size(); ++at) {
      if (!series.points[at]) continue;
      const Figures& f = *series.points[at];
      out += fmt::format("{},{:g},{},{},{},{},{},{},{},{},{},{},{}", csv_cell(series.label, true),
                         table.x[at], f.seconds, f.gflops, f.percent_of_peak, f.gigabytes_to_devices,
                         f.gigabytes_from_devices, f.gigabytes_between_devices, f.gigabytes_from_disk,
                         f.bus_limit_gigabytes, f.lower_bound_gigabytes, f.floor_gigabytes, f.best_gflops);
      for (const Metric metric : experiment.metrics)
        if (const auto range = series.range(at, metric))
          out += fmt::format(",{},{}", range->least, range->most);
      out += "\n";
    }
  return out;
}

std::vector<std::pair<std::string, std::string>> pictures(const Experiment& experiment, const Table& table) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Metric metric : experiment.metrics) {
    Chart chart{.title = experiment.title,
                .x_label = experiment.sweep,
                .y_label = std::string(unit_of(metric)),
                .lines = {}};
    for (const Series& series : table.series) {
      ChartLine& line = chart.lines.emplace_back();
      line.label = series.label;
      for (std::size_t at = 0; at < table.x.size(); ++at)
        if (series.points[at]) line.points.emplace_back(table.x[at], series.points[at]->of(metric));
    }
    for (const auto& [label, bound] : bounds_of(metric)) {
      ChartLine line{.label = label, .points = {}, .bound = true};
      for (std::size_t at = 0; at < table.x.size(); ++at)
        if (const double value = bound_at(table, at, bound); value > 0)
          line.points.emplace_back(table.x[at], value);
      if (!line.points.empty()) chart.lines.push_back(std::move(line));
    }
    all.emplace_back(name_of(metric), svg(chart));
  }
  return all;
}

namespace {
/// Where claims are judged, figures of every line would only make the page long: they are in the tables that
/// the command writes.
std::vector<Metric> most_shown_of(const Experiment& experiment) {
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
    out +=
        fmt::format("| {}, {} | {} | {} | {} | {}{} |\n", markdown_cell(one.value->line),
                    unit_of(one.value->metric), short_number(one.value->value),
                    one.here ? short_number(*one.here) + in_brackets(text_of(one.range)) : "",
                    one.here ? fmt::format("{:.2f}", *one.here / one.value->value) : "", name_of(one.verdict),
                    one.value->note.empty() ? "" : fmt::format(": {}", markdown_cell(one.value->note)));
  if (!values.empty()) out += "\n";
  if (!experiment.claims.empty())
    out += "| claim | here | verdict | why, where it differs |\n|---|---|---|---|\n";
  for (const ClaimVerdict& one : judge_claims(experiment, table))
    out += fmt::format("| {} | {} | {} | {} |\n", markdown_cell(one.claim->text), markdown_cell(one.found),
                       name_of(one.verdict),
                       one.verdict == Verdict::differs ? markdown_cell(one.claim->reason) : "");
  if (!experiment.claims.empty()) out += "\n";
  // Not more columns than a page holds: the ends and some between.
  std::vector<std::size_t> shown;
  const std::size_t most = 8;
  for (std::size_t i = 0; i < std::min(most, table.x.size()); ++i)
    shown.push_back(table.x.size() <= most ? i : i * (table.x.size() - 1) / (most - 1));
  for (const Metric metric : most_shown_of(experiment)) {
    out += fmt::format("| {} |", unit_of(metric));
    for (const std::size_t at : shown) out += fmt::format(" {} {:g} |", experiment.sweep, table.x[at]);
    out += "\n|---|";
    for (std::size_t i = 0; i < shown.size(); ++i) out += "---|";
    out += "\n";
    for (const Series& series : table.series) {
      out += fmt::format("| {} |", markdown_cell(series.label));
      for (const std::size_t at : shown)
        out += fmt::format(" {}{} |", cell(series.points[at], metric),
                           in_brackets(text_of(series.range(at, metric))));
      out += "\n";
    }
    for (const auto& [label, bound] : bounds_of(metric)) {
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
