// Elements of SVG, for pictures that have no script.
#pragma once
#include <string>
#include <string_view>

namespace fairlead::report::html {

/// Text whose left end, unless `more` says otherwise, is at a point.
std::string svg_text(double x, double y, std::string_view text, std::string_view more = "");
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view more);
/// In 12 pixels, as wide as a font may show it.
double svg_text_width(std::string_view text);

/// All of it: `inside`, with styles for text, .grid, .bound and .back, on light paper and on dark.
std::string svg_picture(double width, double height, std::string_view inside);

}  // namespace fairlead::report::html
