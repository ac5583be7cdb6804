// Marks and dash patterns, which distinguish the lines of a chart in addition to colours.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead::report::html {

/// SVG of the mark of a line, by its index, at a point. Lines of one colour have different marks.
std::string svg_mark(std::size_t line, double x, double y);
/// A dash pattern for stroke-dasharray.
std::string_view dashes(std::size_t line);

}  // namespace fairlead::report::html
