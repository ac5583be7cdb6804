// A chart as SVG: lines over x, or bars where there is one x. Self-contained, legible in light and dark,
// and on a screen 500 pixels wide.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace fairlead::experiment {

struct ChartLine {
  std::string label;
  std::vector<std::pair<double, double>> points;
  bool bound = false;  ///< not a measurement: drawn dashed, and does not decide how far the axis goes
};
struct Chart {
  std::string title, x_label, y_label;
  std::vector<ChartLine> lines;
};

/// Lines differ in colour and mark, bounds in their dashes. A bound that is far above all that was measured
/// is not drawn; the legend states its value.
std::string svg(const Chart& chart);

}  // namespace fairlead::experiment
