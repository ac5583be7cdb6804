// What lines of a chart differ in beside their colours: marks at their points, and dashes.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead::report::html {

/// SVG of the mark of a line, by its place, at a point. Lines of one colour have marks of other shapes.
std::string svg_mark(std::size_t line, double x, double y);
/// For stroke-dasharray.
std::string_view dashes(std::size_t line);

}  // namespace fairlead::report::html
