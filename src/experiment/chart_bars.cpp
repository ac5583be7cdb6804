// Draws the values at one x as bars.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "experiment/chart_plan.hpp"
#include "report/html/charts/colours.hpp"
#include "report/html/charts/svg.hpp"

namespace fairlead::experiment {

using namespace report::html;

Drawn draw_bars(const ChartPlan& plan) {
  constexpr double least_width = 640, row_height = 18;
  const Chart& chart = plan.chart();
  std::vector<const ChartLine*> shown;
  for (const ChartLine& line : chart.lines)
    if (!line.bound && !line.points.empty()) shown.push_back(&line);
  std::ranges::stable_sort(shown, std::greater<>(), [](const ChartLine* line) { return most_of(*line); });
  const auto in_column = [&](const ChartLine& line) { return column_text(most_of(line), plan.most()); };
  double widest_number = 0;
  for (const ChartLine* line : shown)
    widest_number = std::max(widest_number, svg_text_width(in_column(*line)));

  const double width = std::max({least_width, plan.least_width(), plan.longest_name() + 400});
  const double from = ChartPlan::margin + plan.longest_name() + 8,
               to = width - ChartPlan::right - widest_number - 10;
  const auto at = [&](double value) { return from + value / plan.axis().end() * (to - from); };
  double top = 0;
  std::string out = plan.title(width, top);
  double y = top + 6;
  const double begin = y - 4, finish = y + row_height * static_cast<double>(shown.size()) + 2;
  for (const double value : plan.axis().ticks())
    out += svg_line(at(value), begin, at(value), finish, " class=\"grid\"") +
           svg_text(at(value), finish + 15, tick_text(value), " text-anchor=\"middle\"");
  for (const ChartLine* line : shown) {
    out += svg_text(from - 8, y + 10, line->label, " text-anchor=\"end\"");
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"13\" fill=\"{}\"/>", from,
                       y, std::max(0.5, at(most_of(*line)) - from), colour("bar"));
    out += svg_text(width - ChartPlan::right, y + 10, in_column(*line), " text-anchor=\"end\"");
    y += row_height;
  }
  for (const ChartLine& line : chart.lines)
    if (line.bound && plan.is_drawn(line))
      out += svg_line(at(most_of(line)), begin, at(most_of(line)), finish, plan.stroke(line, 0));
  const std::string where =
      shown.empty() ? std::string()
                    : fmt::format(", {} {}", chart.x_label, tick_text(shown.front()->points.front().first));
  out += svg_text((from + to) / 2, finish + 34, chart.y_label + where, " text-anchor=\"middle\"");
  y = finish + 54;
  out += plan.legend(true, width, y);
  return {std::move(out), width, y};
}

}  // namespace fairlead::experiment
