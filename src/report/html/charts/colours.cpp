// Parses "--name: value;" in the style sheets.
#include "report/html/charts/colours.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "report/html/page_files.hpp"

namespace fairlead::report::html {

namespace {

/// Empty if the style sheet does not define the name.
std::string_view value_in(std::string_view style, std::string_view name) {
  const std::string key = fmt::format(" --{}: ", name);
  const std::size_t at = style.find(key);
  if (at == style.npos) return {};
  const std::size_t from = at + key.size();
  return style.substr(from, style.find(';', from) - from);
}

}  // namespace

std::string_view colour(std::string_view name, Paper paper) {
  std::string_view found;
  if (paper == Paper::dark) found = value_in(page_file("charts/dark.css"), name);
  if (found.empty()) found = value_in(page_file("charts/light.css"), name);
  ensure(!found.empty(), "a colour has a name that light.css has");
  return found;
}

std::string_view line_colour(std::size_t line) { return colour(fmt::format("l{}", line % line_colours)); }

}  // namespace fairlead::report::html
