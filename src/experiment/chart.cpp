// Draws a chart as lines, or as bars if lines could not be distinguished.
#include "experiment/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiment/chart_plan.hpp"
#include "report/html/charts/svg.hpp"

namespace fairlead::experiment {

namespace {

/// Many lines over few x cannot be distinguished: draws bars, grouped by x.
constexpr std::size_t many_lines = 8, few_x = 3;

/// The chart itself, or one chart per x, from top to bottom, if its lines could not be distinguished.
std::vector<Chart> panels_of(const Chart& chart) {
  std::set<double> xs;
  std::size_t lines = 0;
  for (const ChartLine& line : chart.lines) {
    lines += !line.bound && !line.points.empty();
    for (const auto& [x, y] : line.points) xs.insert(x);
  }
  if (xs.size() > few_x || (xs.size() > 1 && lines <= many_lines)) return {chart};
  std::vector<Chart> panels;
  for (const double x : xs) {
    Chart& panel = panels.emplace_back(chart);
    if (panels.size() > 1) panel.title.clear();
    for (ChartLine& line : panel.lines)
      std::erase_if(line.points, [x](const auto& point) { return point.first != x; });
  }
  if (panels.empty()) panels.push_back(chart);
  return panels;
}

}  // namespace

std::string svg(const Chart& chart) {
  std::string inside;
  double width = 0, height = 0;
  for (const Chart& panel : panels_of(chart)) {
    const ChartPlan plan(panel);
    const Drawn drawn = plan.has_one_x() ? draw_bars(plan) : draw_lines(plan);
    inside += fmt::format("<g transform=\"translate(0 {:.0f})\">\n{}</g>\n", height, drawn.svg);
    width = std::max(width, drawn.width);
    height += drawn.height + 6;
  }
  return report::html::svg_picture(width, height, inside);
}

}  // namespace fairlead::experiment
