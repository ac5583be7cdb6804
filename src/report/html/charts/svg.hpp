// SVG elements, for pictures without scripts.
#pragma once
#include <string>
#include <string_view>

namespace fairlead::report::html {

/// Text whose left end is at the point, unless `more` has another anchor.
std::string svg_text(double x, double y, std::string_view text, std::string_view more = "");
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view more);
/// An upper bound of the text's width in a 12-pixel font, in pixels.
double svg_text_width(std::string_view text);

/// A complete picture around `inside`, with styles for text, .grid, .bound and .back, for light and dark paper.
std::string svg_picture(double width, double height, std::string_view inside);

}  // namespace fairlead::report::html
