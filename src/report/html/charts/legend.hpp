// Legends of charts. legend.js creates those of charts drawn by scripts.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::report::html {

struct LegendEntry {
  std::string colour;  ///< name in the style sheet
  std::string words;
};
/// A legend next to a chart of the page.
std::string legend(const std::vector<LegendEntry>& entries);

struct SvgLegendEntry {
  std::function<std::string(double x, double y)> sign;  ///< 26 pixels wide, centred vertically at `y`
  std::string words;
};
/// A legend in as many columns as fit into `width`, starting at `y`; `y` becomes its end.
std::string svg_legend(const std::vector<SvgLegendEntry>& entries, double width, double& y);

}  // namespace fairlead::report::html
