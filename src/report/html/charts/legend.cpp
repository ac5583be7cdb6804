// Lays out entries in a row, or in columns.
#include "report/html/charts/legend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/html/charts/svg.hpp"
#include "report/html/escaped.hpp"

namespace fairlead::report::html {

std::string legend(const std::vector<LegendEntry>& entries) {
  std::string text = "<div class=\"legend\">";
  for (const LegendEntry& entry : entries)
    text += fmt::format("<span><i style=\"background:var(--{})\"></i>{}</span>", entry.colour,
                        escape(entry.words));
  return text + "</div>\n";
}

std::string svg_legend(const std::vector<SvgLegendEntry>& entries, double width, double& y) {
  constexpr double from = 14, sign = 26, line = 18;
  if (entries.empty()) return "";
  double longest = 0;
  for (const SvgLegendEntry& entry : entries) longest = std::max(longest, svg_text_width(entry.words));
  const double column = longest + sign + 20;
  const auto columns = std::max<std::size_t>(1, static_cast<std::size_t>((width - from) / column));
  const std::size_t rows = (entries.size() + columns - 1) / columns;
  std::string out;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const std::size_t in_column = k / rows;
    const double x = from + column * static_cast<double>(in_column),
                 at = y + line * static_cast<double>(k % rows);
    out += entries[k].sign(x, at) + svg_text(x + sign + 6, at + 4, entries[k].words);
  }
  y += line * static_cast<double>(rows);
  return out;
}

}  // namespace fairlead::report::html
