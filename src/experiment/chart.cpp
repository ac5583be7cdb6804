// Axes from zero, round ticks, the legend below, where it has room however long labels are.
#include "experiment/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <string_view>

#include "report/units.hpp"

namespace fairlead::experiment {

namespace {

constexpr double least_width = 640, left = 76, right = 22, bottom = 50, plot_height = 320;
constexpr double letter = 7.2, row_height = 18;  // of 12 pixels; what no usual font exceeds on average
/// The axis goes so far beyond the measurements for the sake of a bound, no further.
constexpr double room_for_bounds = 1.6;

// Twelve hues as far apart as may be in turn, then darker ones of the same order; for white and black paper.
constexpr std::array<std::string_view, 24> colours = {
    "#0072b2", "#e66100", "#009e73", "#d03a8c", "#b8860b", "#56b4e9", "#7f3c8d", "#8a8a8a",
    "#c1272d", "#4bbf3a", "#a5673f", "#00b3b3", "#2f4b9c", "#f2a65a", "#0b6b4f", "#f08fc0",
    "#7d7a00", "#7fa8d9", "#b79ae0", "#5c6670", "#f0706a", "#7aa61c", "#d9b48f", "#00808f"};
constexpr std::string_view bar_colour = "#6ba3cf";  // bounds are seen across it, on white and on black
constexpr std::array<std::string_view, 5> dashes = {"7 4", "2 3", "10 3 2 3", "14 5", "4 2 1 2 1 2"};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

/// As a font may show it.
double width_of(std::string_view text) { return letter * static_cast<double>(report::characters_of(text)); }

/// 1, 2 or 5 times a power of ten, so that about `wanted` of them make `range`.
double step_for(double range, int wanted) {
  const double rough = range / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double nice : {1.0, 2.0, 5.0})
    if (rough <= nice * power) return nice * power;
  return 10 * power;
}

std::string number(double value) {
  if (value >= 999.5 && value < 1e15) return report::with_commas(static_cast<std::uint64_t>(value + 0.5));
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

/// As many digits behind the point as beside values like the largest.
std::string with_digits(double value, double largest) {
  if (largest >= 1000) return number(std::max(value, 0.0));
  return fmt::format("{:.{}f}", value, largest >= 100 ? 0 : largest >= 10 ? 1 : largest >= 1 ? 2 : 4);
}

std::string text_at(double x, double y, std::string_view text, std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, escaped(text));
}
std::string segment(double x1, double y1, double x2, double y2, std::string_view more) {
  return fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"{}/>", x1, x2, y1, y2,
                     more);
}

/// Round, square, pointed up, on its tip, pointed down: neighbours of like colours differ in it.
std::string mark(std::size_t line, double x, double y) {
  const std::string_view colour = colours[line % colours.size()];
  const auto polygon = [&](std::string_view points) {
    return fmt::format("<polygon transform=\"translate({:.1f} {:.1f})\" points=\"{}\" fill=\"{}\"/>", x, y,
                       points, colour);
  };
  switch ((line + 2 * (line / colours.size())) % 5) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\" fill=\"{}\"/>", x, y, colour);
    case 1:
      return polygon("-3,-3 3,-3 3,3 -3,3");
    case 2:
      return polygon("0,-4 3.8,3 -3.8,3");
    case 3:
      return polygon("0,-4.2 4.2,0 0,4.2 -4.2,0");
    default:
      return polygon("0,4 3.8,-3 -3.8,-3");
  }
}

double least_of(const ChartLine& line) {
  return std::ranges::min(line.points, {}, &std::pair<double, double>::second).second;
}
double most_of(const ChartLine& line) {
  return std::ranges::max(line.points, {}, &std::pair<double, double>::second).second;
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart) {
    double bounds = 0;
    bool any = false;
    for (const ChartLine& line : chart.lines) {
      for (const auto& [x, y] : line.points) {
        low_ = any ? std::min(low_, x) : x;
        high_ = any ? std::max(high_, x) : x;
        any = true;
        (line.bound ? bounds : most_) = std::max(line.bound ? bounds : most_, y);
      }
      if (line.points.empty()) continue;
      longest_ = std::max(longest_, width_of(legend_text(line)));
      if (!line.bound) longest_name_ = std::max(longest_name_, width_of(line.label));
    }
    if (!(most_ > 0)) most_ = bounds > 0 ? bounds : 1;
    const double measured = most_;
    for (const ChartLine& line : chart.lines)
      if (line.bound && !line.points.empty() && most_of(line) <= room_for_bounds * measured)
        most_ = std::max(most_, most_of(line));
    const double step = step_for(most_, 6);
    end_ = std::ceil(most_ / step - 1e-9) * step;
    for (const ChartLine& line : chart.lines)  // now that it is known which are beyond
      if (!line.points.empty()) longest_ = std::max(longest_, width_of(legend_text(line)));
    width_ = std::max(least_width, longest_ + 60);
  }

  double width() const { return width_; }
  double height() const { return height_; }
  std::string inside() { return low_ < high_ ? lines() : bars(); }

 private:
  bool beyond(const ChartLine& line) const { return line.bound && least_of(line) > end_; }
  std::string legend_text(const ChartLine& line) const {
    if (end_ == 0 || !line.bound || (!beyond(line) && low_ < high_)) return line.label;
    const double least = least_of(line), most = most_of(line);
    return fmt::format("{}: {}{}", line.label,
                       least == most ? number(least) : number(least) + " to " + number(most),
                       beyond(line) ? ", beyond the axis" : "");
  }
  std::string in_column(double value) const { return with_digits(value, most_); }
  std::string_view dash_of(const ChartLine& line) const {
    std::size_t before = 0;
    for (const ChartLine* it = chart_.lines.data(); it != &line; ++it) before += it->bound;
    return dashes[before % dashes.size()];
  }
  std::string stroke(const ChartLine& line, std::size_t place) const {
    return line.bound
               ? fmt::format(" class=\"bound\" stroke-width=\"1.6\" stroke-dasharray=\"{}\"", dash_of(line))
               : fmt::format(" stroke=\"{}\" stroke-width=\"1.8\"", colours[place % colours.size()]);
  }

  /// Titles are broken between words.
  std::string head() {
    std::string out, line;
    double y = 22;
    const auto flush = [&] {
      out += text_at(14, y, line, " font-size=\"14\"");
      y += 19;
      line.clear();
    };
    for (std::size_t from = 0; from < chart_.title.size();) {
      const std::size_t to = std::min(chart_.title.find(' ', from), chart_.title.size());
      const std::string word = chart_.title.substr(from, to - from);
      if (!line.empty() && 14.0 / 12 * width_of(line + " " + word) > width_ - 28) flush();
      line += (line.empty() ? "" : " ") + word;
      from = to + 1;
    }
    if (!line.empty()) flush();
    top_ = chart_.title.empty() ? 12 : y;
    return out;
  }

  /// Of the lines or of the bounds, in as many columns as there is room for; `y` is where it ends.
  std::string legend(bool bounds, double& y) const {
    std::vector<std::size_t> shown;
    double longest = 0;
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      if (chart_.lines[i].points.empty() || chart_.lines[i].bound != bounds) continue;
      shown.push_back(i);
      longest = std::max(longest, width_of(legend_text(chart_.lines[i])));
    }
    if (shown.empty()) return "";
    const double column = longest + 46;
    const auto columns = std::max<std::size_t>(1, static_cast<std::size_t>((width_ - 14) / column));
    const std::size_t rows = (shown.size() + columns - 1) / columns;
    std::string out;
    for (std::size_t k = 0; k < shown.size(); ++k) {
      const ChartLine& line = chart_.lines[shown[k]];
      const double x = 14 + column * static_cast<double>(k / rows),
                   at = y + row_height * static_cast<double>(k % rows);
      out += segment(x, at, x + 26, at, stroke(line, shown[k]));
      if (!line.bound) out += mark(shown[k], x + 13, at);
      out += text_at(x + 32, at + 4, legend_text(line));
    }
    y += row_height * static_cast<double>(rows);
    return out;
  }

  std::string lines() {
    std::string out = head();
    const double low_y = top_ + plot_height, right_end = width_ - right;
    const auto at_x = [&](double x) { return left + (x - low_) / (high_ - low_) * (right_end - left); };
    const auto at_y = [&](double y) { return low_y - y / end_ * plot_height; };
    const double y_step = step_for(most_, 6), x_step = step_for(high_ - low_, 8);
    for (double y = 0; y <= end_ * 1.0001; y += y_step)
      out += segment(left, at_y(y), right_end, at_y(y), " class=\"grid\"") +
             text_at(left - 6, at_y(y) + 4, number(y), " text-anchor=\"end\"");
    for (double x = std::ceil(low_ / x_step) * x_step; x <= high_ + 1e-6 * x_step; x += x_step)
      out += text_at(at_x(x), low_y + 17, number(x), " text-anchor=\"middle\"");
    out += text_at((left + right_end) / 2, low_y + 36, chart_.x_label, " text-anchor=\"middle\"");
    out +=
        text_at(-(top_ + low_y) / 2, 16, chart_.y_label, " transform=\"rotate(-90)\" text-anchor=\"middle\"");
    // A bound may leave the plot.
    out += fmt::format(
        "<clipPath id=\"plot\"><rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/></clipPath>\n",
        left - 6, top_ - 6, right_end - left + 12, plot_height + 12);
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      const ChartLine& line = chart_.lines[i];
      if (line.points.empty() || beyond(line)) continue;
      std::string path;
      for (const auto& [x, y] : line.points) path += fmt::format("{:.1f},{:.1f} ", at_x(x), at_y(y));
      out += fmt::format("<g clip-path=\"url(#plot)\"><polyline points=\"{}\" fill=\"none\"{}/>", path,
                         stroke(line, i));
      if (!line.bound)
        for (const auto& [x, y] : line.points) out += mark(i, at_x(x), at_y(y));
      out += "</g>\n";
    }
    double y = low_y + bottom + 8;
    out += legend(false, y);
    out += legend(true, y);
    height_ = y;
    return out;
  }

  /// One x: a bar for each line, the highest first; bounds go across.
  std::string bars() {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < chart_.lines.size(); ++i)
      if (!chart_.lines[i].bound && !chart_.lines[i].points.empty()) shown.push_back(i);
    std::ranges::stable_sort(shown, std::greater<>(),
                             [&](std::size_t i) { return most_of(chart_.lines[i]); });
    double widest_number = 0;
    for (const std::size_t i : shown)
      widest_number = std::max(widest_number, width_of(in_column(most_of(chart_.lines[i]))));
    width_ = std::max(width_, longest_name_ + 400);
    std::string out = head();
    const double from = 14 + longest_name_ + 8, to = width_ - right - widest_number - 10;
    const auto at = [&](double value) { return from + value / end_ * (to - from); };
    double y = top_ + 6;
    const double begin = y - 4, finish = y + row_height * static_cast<double>(shown.size()) + 2,
                 step = step_for(most_, 6);
    for (double value = 0; value <= end_ * 1.0001; value += step)
      out += segment(at(value), begin, at(value), finish, " class=\"grid\"") +
             text_at(at(value), finish + 15, number(value), " text-anchor=\"middle\"");
    for (const std::size_t i : shown) {
      const ChartLine& line = chart_.lines[i];
      const double value = most_of(line);
      out += text_at(from - 8, y + 10, line.label, " text-anchor=\"end\"");
      out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"13\" fill=\"{}\"/>", from,
                         y, std::max(0.5, at(value) - from), bar_colour);
      out += text_at(width_ - right, y + 10, in_column(value), " text-anchor=\"end\"");
      y += row_height;
    }
    for (const ChartLine& line : chart_.lines)
      if (line.bound && !line.points.empty() && !beyond(line))
        out += segment(at(most_of(line)), begin, at(most_of(line)), finish, stroke(line, 0));
    const std::string where = chart_.lines.empty() || shown.empty()
                                  ? std::string()
                                  : fmt::format(", {} {}", chart_.x_label,
                                                number(chart_.lines[shown.front()].points.front().first));
    out += text_at((from + to) / 2, finish + 34, chart_.y_label + where, " text-anchor=\"middle\"");
    y = finish + 54;
    out += legend(true, y);
    height_ = y;
    return out;
  }

  const Chart& chart_;
  double low_ = 0, high_ = 0, most_ = 0, end_ = 0;  // of x; of what is drawn; of the axis
  double longest_ = 0, longest_name_ = 0;           // labels, in pixels
  double width_ = least_width, top_ = 0, height_ = 0;
};

/// Of many lines over few x nothing can be told apart: bars then, x by x.
constexpr std::size_t many_lines = 8, few_x = 3;

/// What is drawn below each other.
std::vector<Chart> panels_of(const Chart& chart) {
  std::set<double> xs;
  std::size_t lines = 0;
  for (const ChartLine& line : chart.lines) {
    lines += !line.bound && !line.points.empty();
    for (const auto& [x, y] : line.points) xs.insert(x);
  }
  if (xs.size() > few_x || (xs.size() > 1 && lines <= many_lines)) return {chart};
  std::vector<Chart> panels;
  for (const double x : xs) {
    Chart& panel = panels.emplace_back(chart);
    if (panels.size() > 1) panel.title.clear();
    for (ChartLine& line : panel.lines)
      std::erase_if(line.points, [x](const auto& point) { return point.first != x; });
  }
  if (panels.empty()) panels.push_back(chart);
  return panels;
}

}  // namespace

std::string svg(const Chart& chart) {
  std::string inside;
  double width = least_width, height = 0;
  for (const Chart& panel : panels_of(chart)) {
    Drawing drawing(panel);
    inside += fmt::format("<g transform=\"translate(0 {:.0f})\">\n{}</g>\n", height, drawing.inside());
    width = std::max(width, drawing.width());
    height += drawing.height() + 6;
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
             "{0:.0f} {1:.0f}\" "
             "style=\"max-width:100%;height:auto\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n<style>text{{fill:#222}}.grid{{stroke:#ddd}}"
             ".bound{{stroke:#444}}.back{{fill:#fff}}@media(prefers-color-scheme:dark){{text{{fill:#ddd}}"
             ".grid{{stroke:#444}}.bound{{stroke:#bbb}}.back{{fill:#1b1b1b}}}}</style>\n"
             "<rect class=\"back\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n",
             width, height) +
         inside + "</svg>\n";
}

}  // namespace fairlead::experiment
