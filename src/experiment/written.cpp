// Tables, CSV, pictures and the page's sections.
#include "experiment/written.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/chart.hpp"
#include "experiment/overview.hpp"

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

/// Of any line at that x: bounds do not depend on the policy.
double bound_at(const Table& table, std::size_t at, double (*bound)(const Figures&)) {
  for (const Series& series : table.series)
    if (series.points[at]) return bound(*series.points[at]);
  return 0;
}

}  // namespace

std::string text(const Experiment& experiment, const Table& table) {
  std::string out = fmt::format("{}: {}\n{}\n\n", experiment.name, experiment.title, experiment.paper);
  const auto values = judge_values(experiment, table);
  if (!values.empty())
    out += fmt::format("{:<28}{:>12}{:>12}{:>8}  {}\n", "", "paper", "Fairlead", "ratio", "verdict");
  for (const ValueVerdict& one : values)
    out += fmt::format(
        "{:<28}{:>12}{:>12}{:>8}  {}{}\n", fmt::format("{}, {}", one.value->line, unit_of(one.value->metric)),
        short_number(one.value->value), one.here ? short_number(*one.here) : "-",
        one.here ? fmt::format("{:.2f}", *one.here / one.value->value) : "-", name_of(one.verdict),
        one.value->note.empty() ? "" : fmt::format(" ({})", one.value->note));
  if (!values.empty()) out += "\n";
  for (const ClaimVerdict& one : judge_claims(experiment, table))
    out += fmt::format("{:<12}{}\n            {}\n", name_of(one.verdict), one.claim->text, one.found);
  if (!experiment.claims.empty()) out += "\n";
  for (const Metric metric : experiment.metrics) {
    out += fmt::format("{} by {}\n{:<26}", unit_of(metric), experiment.sweep, "");
    for (const double x : table.x) out += fmt::format("{:>9}", fmt::format("{:g}", x));
    out += "\n";
    for (const Series& series : table.series) {
      out += fmt::format("{:<26}", series.label);
      for (const auto& point : series.points) out += fmt::format("{:>9}", cell(point, metric));
      out += "\n";
    }
    for (const auto& [label, bound] : bounds_of(metric)) {
      out += fmt::format("{:<26}", label);
      for (std::size_t at = 0; at < table.x.size(); ++at)
        out += fmt::format("{:>9}", short_number(bound_at(table, at, bound)));
      out += "\n";
    }
    out += "\n";
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
      "gigabytes_from_disk,bus_limit_gigabytes,lower_bound_gigabytes,floor_gigabytes,best_gflops\n",
      experiment.sweep);
  for (const Series& series : table.series)
    for (std::size_t at = 0; at < table.x.size(); ++at) {
      if (!series.points[at]) continue;
      const Figures& f = *series.points[at];
      out += fmt::format("\"{}\",{:g},{},{},{},{},{},{},{},{},{},{},{}\n", series.label, table.x[at],
                         f.seconds, f.gflops, f.percent_of_peak, f.gigabytes_to_devices,
                         f.gigabytes_from_devices, f.gigabytes_between_devices, f.gigabytes_from_disk,
                         f.bus_limit_gigabytes, f.lower_bound_gigabytes, f.floor_gigabytes, f.best_gflops);
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
      ChartLine line{.label = label, .points = {}, .dashed = true};
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
  out += "\n\n";
  const auto values = judge_values(experiment, table);
  if (!values.empty()) out += "| | paper | Fairlead | ratio | verdict |\n|---|---|---|---|---|\n";
  for (const ValueVerdict& one : values)
    out +=
        fmt::format("| {}, {} | {} | {} | {} | {}{} |\n", one.value->line, unit_of(one.value->metric),
                    short_number(one.value->value), one.here ? short_number(*one.here) : "",
                    one.here ? fmt::format("{:.2f}", *one.here / one.value->value) : "", name_of(one.verdict),
                    one.value->note.empty() ? "" : fmt::format(": {}", one.value->note));
  if (!values.empty()) out += "\n";
  if (!experiment.claims.empty())
    out += "| claim | here | verdict | why, where it differs |\n|---|---|---|---|\n";
  for (const ClaimVerdict& one : judge_claims(experiment, table))
    out += fmt::format("| {} | {} | {} | {} |\n", one.claim->text, one.found, name_of(one.verdict),
                       one.verdict == Verdict::differs ? one.claim->reason : "");
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
      out += fmt::format("| {} |", series.label);
      for (const std::size_t at : shown) out += fmt::format(" {} |", cell(series.points[at], metric));
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
