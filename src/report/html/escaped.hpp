// Escapes text for HTML and SVG.
#pragma once
#include <string>
#include <string_view>

namespace fairlead::report::html {

/// Replaces <, >, & and " by entities; valid between tags and in quoted attributes.
std::string escape(std::string_view text);

}  // namespace fairlead::report::html
