// Axes from zero, round ticks, a legend beside.
#include "experiment/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fairlead::experiment {

namespace {

constexpr double width = 760, height = 420, left = 76, right = 190, top = 40, bottom = 52;
// Told apart also by those who see few colours, after Okabe and Ito; then again, with other marks.
constexpr std::array<std::string_view, 8> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                     "#e69f00", "#56b4e9", "#7f3c8d", "#767676"};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '&')
      out += "&amp;";
    else if (letter == '<')
      out += "&lt;";
    else if (letter == '"')
      out += "&quot;";
    else
      out += letter;
  }
  return out;
}

/// 1, 2 or 5 times a power of ten, so that about `wanted` of them make `range`.
double step_for(double range, int wanted) {
  const double rough = range / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double nice : {1.0, 2.0, 5.0})
    if (rough <= nice * power) return nice * power;
  return 10 * power;
}

std::string mark(std::size_t line, double x, double y, std::string_view colour) {
  if (line / colours.size() % 2 == 0)
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, y, colour);
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"6\" height=\"6\" fill=\"{}\"/>\n", x - 3, y - 3,
                     colour);
}

}  // namespace

std::string svg(const Chart& chart) {
  double low = 0, high = 0, most = 0;
  bool any = false;
  for (const ChartLine& line : chart.lines)
    for (const auto& [x, y] : line.points) {
      low = any ? std::min(low, x) : x;
      high = any ? std::max(high, x) : x;
      most = std::max(most, y);
      any = true;
    }
  if (!(high > low)) high = low + 1;
  if (!(most > 0)) most = 1;
  const double y_step = step_for(most, 6), x_step = step_for(high - low, 8);
  const double y_end = std::ceil(most / y_step) * y_step;
  const auto at_x = [&](double x) { return left + (x - low) / (high - low) * (width - left - right); };
  const auto at_y = [&](double y) { return height - bottom - y / y_end * (height - top - bottom); };

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<style>text{{fill:#222}}.grid{{stroke:#ddd}}.back{{fill:#fff}}@media(prefers-color-scheme:dark){{text{"
      "{fill:#ddd}}"
      ".grid{{stroke:#444}}.back{{fill:#1b1b1b}}}}</style>\n<rect class=\"back\" width=\"{}\" "
      "height=\"{}\"/>\n"
      "<text x=\"{}\" y=\"22\" font-size=\"14\">{}</text>\n",
      width, height, width, height, left, escaped(chart.title));
  for (double y = 0; y <= y_end * 1.0001; y += y_step)
    out += fmt::format(
        "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{:g}</text>\n",
        left, width - right, at_y(y), at_y(y), left - 6, at_y(y) + 4, y);
  for (double x = std::ceil(low / x_step) * x_step; x <= high * 1.0001; x += x_step)
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", at_x(x),
                       height - bottom + 18, x);
  out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (left + width - right) / 2, height - 12, escaped(chart.x_label));
  out +=
      fmt::format("<text transform=\"rotate(-90)\" x=\"{:.1f}\" y=\"18\" text-anchor=\"middle\">{}</text>\n",
                  -(top + height - bottom) / 2, escaped(chart.y_label));
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const ChartLine& line = chart.lines[i];
    const std::string_view colour = line.dashed ? "#999999" : colours[i % colours.size()];
    std::string path;
    for (const auto& [x, y] : line.points) path += fmt::format("{:.1f},{:.1f} ", at_x(x), at_y(y));
    out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{}/>\n", path,
                       colour, line.dashed ? " stroke-dasharray=\"5 4\"" : "");
    if (!line.dashed)
      for (const auto& [x, y] : line.points) out += mark(i, at_x(x), at_y(y), colour);
    const double y = top + 8 + 17 * static_cast<double>(i);
    out += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"2\"{}/><text x=\"{}\" "
        "y=\"{}\">{}</text>\n",
        width - right + 12, width - right + 34, y, y, colour, line.dashed ? " stroke-dasharray=\"5 4\"" : "",
        width - right + 40, y + 4, escaped(line.label));
  }
  return out + "</svg>\n";
}

}  // namespace fairlead::experiment
