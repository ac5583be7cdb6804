// SVG elements as text. A picture is self-contained and uses no CSS variables, which some viewers do not support.
#include "report/html/charts/svg.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/html/charts/colours.hpp"
#include "report/html/escaped.hpp"
#include "report/units.hpp"

namespace fairlead::report::html {

namespace {

constexpr double letter = 7.2;  // px; an upper bound of the average width in usual fonts

std::string style_on(Paper paper) {
  return fmt::format("text{{fill:{0}}}.bound{{stroke:{0}}}.grid{{stroke:{1}}}.back{{fill:{2}}}",
                     colour("ink", paper), colour("line", paper), colour("paper", paper));
}

}  // namespace

std::string svg_text(double x, double y, std::string_view text, std::string_view more) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, escape(text));
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view more) {
  return fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"{}/>", x1, x2, y1, y2,
                     more);
}

double svg_text_width(std::string_view text) { return letter * static_cast<double>(characters_of(text)); }

std::string svg_picture(double width, double height, std::string_view inside) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" style=\"max-width:100%;height:auto\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<style>{2}@media(prefers-color-scheme:dark){{{3}}}</style>\n"
      "<rect class=\"back\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n{4}</svg>\n",
      width, height, style_on(Paper::light), style_on(Paper::dark), inside);
}

}  // namespace fairlead::report::html
