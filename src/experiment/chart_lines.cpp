// Draws the values as lines over x.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/chart_plan.hpp"
#include "report/html/charts/marks.hpp"
#include "report/html/charts/svg.hpp"

namespace fairlead::experiment {

using namespace report::html;

Drawn draw_lines(const ChartPlan& plan) {
  constexpr double least_width = 640, left = 76, bottom = 50, plot_height = 320;
  const Chart& chart = plan.chart();
  const double width = std::max(least_width, plan.least_width()), right_end = width - ChartPlan::right;
  double top = 0;
  std::string out = plan.title(width, top);
  const double low_y = top + plot_height;
  const auto at_x = [&](double x) {
    return left + (x - plan.low_x()) / (plan.high_x() - plan.low_x()) * (right_end - left);
  };
  const auto at_y = [&](double y) { return low_y - y / plan.axis().end() * plot_height; };
  for (const double y : plan.axis().ticks())
    out += svg_line(left, at_y(y), right_end, at_y(y), " class=\"grid\"") +
           svg_text(left - 6, at_y(y) + 4, tick_text(y), " text-anchor=\"end\"");
  for (const double x :
       ticks_between(plan.low_x(), plan.high_x(), round_step(plan.high_x() - plan.low_x(), 8)))
    out += svg_text(at_x(x), low_y + 17, tick_text(x), " text-anchor=\"middle\"");
  out += svg_text((left + right_end) / 2, low_y + 36, chart.x_label, " text-anchor=\"middle\"");
  out += svg_text(-(top + low_y) / 2, 16, chart.y_label, " transform=\"rotate(-90)\" text-anchor=\"middle\"");
  // A bound may lie outside the plot.
  out += fmt::format(
      "<clipPath id=\"plot\"><rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/></clipPath>\n",
      left - 6, top - 6, right_end - left + 12, plot_height + 12);
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const ChartLine& line = chart.lines[i];
    if (!plan.is_drawn(line)) continue;
    std::string path, marks;
    for (const auto& [x, y] : line.points) {
      path += fmt::format("{:.1f},{:.1f} ", at_x(x), at_y(y));
      if (!line.bound) marks += svg_mark(i, at_x(x), at_y(y));
    }
    out += fmt::format("<g clip-path=\"url(#plot)\"><polyline points=\"{}\" fill=\"none\"{}/>{}</g>\n", path,
                       plan.stroke(line, i), marks);
  }
  double y = low_y + bottom + 8;
  out += plan.legend(false, width, y);
  out += plan.legend(true, width, y);
  return {std::move(out), width, y};
}

}  // namespace fairlead::experiment
