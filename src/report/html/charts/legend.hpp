// Legends: which colour is what. legend.js makes those of pictures that a script draws.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::report::html {

struct LegendEntry {
  std::string colour;  ///< its name in the style
  std::string words;
};
/// Beside a picture of a page.
std::string legend(const std::vector<LegendEntry>& entries);

struct SvgLegendEntry {
  std::function<std::string(double x, double y)> sign;  ///< 26 pixels wide, around `y`
  std::string words;
};
/// In as many columns as there is room for, from `y` on, which is where it ends afterwards.
std::string svg_legend(const std::vector<SvgLegendEntry>& entries, double width, double& y);

}  // namespace fairlead::report::html
