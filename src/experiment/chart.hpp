// A line chart as SVG: complete in itself, legible in light and dark.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace fairlead::experiment {

struct ChartLine {
  std::string label;
  std::vector<std::pair<double, double>> points;
  bool dashed = false;  ///< a bound, not a measurement
};
struct Chart {
  std::string title, x_label, y_label;
  std::vector<ChartLine> lines;
};

std::string svg(const Chart& chart);

}  // namespace fairlead::experiment
