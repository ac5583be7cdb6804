// The layout that line charts and bar charts share: range of the axes, width of the text, legend.
#pragma once
#include <cstddef>
#include <string>

#include "experiment/chart.hpp"
#include "report/html/charts/axis.hpp"

namespace fairlead::experiment {

/// A part of the picture, from (0, 0) to (width, height).
struct Drawn {
  std::string svg;
  double width = 0, height = 0;
};

class ChartPlan {
 public:
  static constexpr double margin = 14, right = 22;

  /// `chart` has to stay.
  explicit ChartPlan(const Chart& chart);

  const Chart& chart() const noexcept { return chart_; }
  double low_x() const noexcept { return low_x_; }
  double high_x() const noexcept { return high_x_; }
  bool has_one_x() const noexcept { return !(low_x_ < high_x_); }
  /// The largest value within the axis.
  double most() const noexcept { return most_; }
  const report::html::AxisFromZero& axis() const noexcept { return axis_; }
  /// That the legend needs, in pixels, and the names of what was measured.
  double least_width() const noexcept { return least_width_; }
  double longest_name() const noexcept { return longest_name_; }

  /// It has points, and is not a bound beyond the axis.
  bool is_drawn(const ChartLine& line) const;
  /// SVG attributes of a line; `place`: the index of its colour.
  std::string stroke(const ChartLine& line, std::size_t place) const;
  /// The title, wrapped between words. Sets `top` to its lower edge.
  std::string title(double width, double& top) const;
  /// The legend of the lines or of the bounds, from `y` on. Sets `y` to its lower edge.
  std::string legend(bool bounds, double width, double& y) const;

 private:
  bool is_beyond(const ChartLine& line) const;
  std::string legend_text(const ChartLine& line) const;

  const Chart& chart_;
  double low_x_ = 0, high_x_ = 0, most_;
  report::html::AxisFromZero axis_;
  double least_width_, longest_name_ = 0;
};

double least_of(const ChartLine& line);
double most_of(const ChartLine& line);

Drawn draw_lines(const ChartPlan& plan);
/// Draws a chart with a single x: one bar per line, the highest first; bounds are lines across the bars.
Drawn draw_bars(const ChartPlan& plan);

}  // namespace fairlead::experiment
