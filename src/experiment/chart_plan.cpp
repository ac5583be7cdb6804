// Computes the layout of a chart, its title and its legend.
#include "experiment/chart_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/html/charts/colours.hpp"
#include "report/html/charts/legend.hpp"
#include "report/html/charts/marks.hpp"
#include "report/html/charts/svg.hpp"

namespace fairlead::experiment {

using namespace report::html;

namespace {

/// The axis extends at most this far beyond the measurements to show a bound.
constexpr double room_for_bounds = 1.6;

double largest(const Chart& chart, bool bounds) {
  double most = 0;
  for (const ChartLine& line : chart.lines)
    if (line.bound == bounds && !line.points.empty()) most = std::max(most, most_of(line));
  return most;
}

/// The maximum of the measurements, and of bounds that are not far above them.
double most_within(const Chart& chart) {
  double measured = largest(chart, false);
  if (!(measured > 0)) measured = largest(chart, true);
  if (!(measured > 0)) return 1;
  double most = measured;
  for (const ChartLine& line : chart.lines)
    if (line.bound && !line.points.empty() && most_of(line) <= room_for_bounds * measured)
      most = std::max(most, most_of(line));
  return most;
}

}  // namespace

double least_of(const ChartLine& line) {
  return std::ranges::min(line.points, {}, &std::pair<double, double>::second).second;
}
double most_of(const ChartLine& line) {
  return std::ranges::max(line.points, {}, &std::pair<double, double>::second).second;
}

ChartPlan::ChartPlan(const Chart& chart) : chart_(chart), most_(most_within(chart)), axis_(most_) {
  bool any = false;
  for (const ChartLine& line : chart.lines)
    for (const auto& [x, y] : line.points) {
      low_x_ = any ? std::min(low_x_, x) : x;
      high_x_ = any ? std::max(high_x_, x) : x;
      any = true;
    }
  double longest = 0;
  for (const ChartLine& line : chart.lines) {
    if (line.points.empty()) continue;
    longest = std::max(longest, svg_text_width(legend_text(line)));
    if (!line.bound) longest_name_ = std::max(longest_name_, svg_text_width(line.label));
  }
  least_width_ = longest + 60;
}

bool ChartPlan::is_beyond(const ChartLine& line) const { return line.bound && least_of(line) > axis_.end(); }

bool ChartPlan::is_drawn(const ChartLine& line) const { return !line.points.empty() && !is_beyond(line); }

std::string ChartPlan::legend_text(const ChartLine& line) const {
  if (!line.bound || (!is_beyond(line) && !has_one_x())) return line.label;
  const double least = least_of(line), most = most_of(line);
  return fmt::format("{}: {}{}", line.label,
                     least == most ? tick_text(least) : tick_text(least) + " to " + tick_text(most),
                     is_beyond(line) ? ", beyond the axis" : "");
}

std::string ChartPlan::stroke(const ChartLine& line, std::size_t place) const {
  if (!line.bound) return fmt::format(" stroke=\"{}\" stroke-width=\"1.8\"", line_colour(place));
  std::size_t bounds_before = 0;
  for (const ChartLine* it = chart_.lines.data(); it != &line; ++it) bounds_before += it->bound;
  return fmt::format(" class=\"bound\" stroke-width=\"1.6\" stroke-dasharray=\"{}\"", dashes(bounds_before));
}

std::string ChartPlan::title(double width, double& top) const {
  std::string out, line;
  double y = 22;
  const auto flush = [&] {
    out += svg_text(margin, y, line, " font-size=\"14\"");
    y += 19;
    line.clear();
  };
  for (std::size_t from = 0; from < chart_.title.size();) {
    const std::size_t to = std::min(chart_.title.find(' ', from), chart_.title.size());
    const std::string word = chart_.title.substr(from, to - from);
    if (!line.empty() && 14.0 / 12 * svg_text_width(line + " " + word) > width - 2 * margin) flush();
    line += (line.empty() ? "" : " ") + word;
    from = to + 1;
  }
  if (!line.empty()) flush();
  top = chart_.title.empty() ? 12 : y;
  return out;
}

std::string ChartPlan::legend(bool bounds, double width, double& y) const {
  std::vector<SvgLegendEntry> entries;
  for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
    const ChartLine& line = chart_.lines[i];
    if (line.points.empty() || line.bound != bounds) continue;
    entries.push_back({[this, &line, i](double x, double at) {
                         return svg_line(x, at, x + 26, at, stroke(line, i)) +
                                (line.bound ? "" : svg_mark(i, x + 13, at));
                       },
                       legend_text(line)});
  }
  return svg_legend(entries, width, y);
}

}  // namespace fairlead::experiment
