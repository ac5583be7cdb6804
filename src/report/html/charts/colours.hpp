// Colours of charts without scripts, by their names in light.css and dark.css, which define all colours.
#pragma once
#include <cstddef>
#include <string_view>

namespace fairlead::report::html {

enum class Paper { light, dark };

/// The value of a colour, such as "#1c2024" for "ink". Colours that dark.css does not define are those of light.css on
/// dark paper too.
std::string_view colour(std::string_view name, Paper paper = Paper::light);

/// Colours of the lines of a chart, by index; they repeat after the last one.
inline constexpr std::size_t line_colours = 24;
std::string_view line_colour(std::size_t line);

}  // namespace fairlead::report::html
