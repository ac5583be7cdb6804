// What drawing a chart as lines and as bars has in common: how far its axes go, how wide its words are, what
// its legend says.
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
  /// For a line of SVG; `place`: the colour.
  std::string stroke(const ChartLine& line, std::size_t place) const;
  /// The title, broken between words; `top` is where it ends.
  std::string title(double width, double& top) const;
  /// Of the lines or of the bounds, from `y` on, which is where it ends afterwards.
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
/// Of a chart with one x: a bar for each line, the highest first; bounds go across.
Drawn draw_bars(const ChartPlan& plan);

}  // namespace fairlead::experiment
