// Draws the results as charts: one per metric, with its lines and bounds.
#include "experiment/chart.hpp"
#include "experiment/output_formats.hpp"
#include "experiment/output_numbers.hpp"

namespace fairlead::experiment {

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

}  // namespace fairlead::experiment
