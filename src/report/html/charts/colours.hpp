// Colours for pictures that have no script: by their names in light.css and dark.css, where all colours are.
#pragma once
#include <cstddef>
#include <string_view>

namespace fairlead::report::html {

enum class Paper { light, dark };

/// "#1c2024" for "ink". On dark paper a colour that dark.css does not have is the one of light.css.
std::string_view colour(std::string_view name, Paper paper = Paper::light);

/// Of the lines of a chart, by place: those after the last begin with the first again.
inline constexpr std::size_t line_colours = 24;
std::string_view line_colour(std::size_t line);

}  // namespace fairlead::report::html
