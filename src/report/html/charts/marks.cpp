// Circle, square, triangle, diamond, inverted triangle: adjacent lines of similar colours have different marks.
#include "report/html/charts/marks.hpp"

#include <fmt/format.h>

#include <array>

#include "report/html/charts/colours.hpp"

namespace fairlead::report::html {

std::string svg_mark(std::size_t line, double x, double y) {
  const std::string_view fill = line_colour(line);
  const auto polygon = [&](std::string_view points) {
    return fmt::format("<polygon transform=\"translate({:.1f} {:.1f})\" points=\"{}\" fill=\"{}\"/>", x, y,
                       points, fill);
  };
  switch ((line + 2 * (line / line_colours)) % 5) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\" fill=\"{}\"/>", x, y, fill);
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

std::string_view dashes(std::size_t line) {
  static constexpr std::array<std::string_view, 5> all = {"7 4", "2 3", "10 3 2 3", "14 5", "4 2 1 2 1 2"};
  return all[line % all.size()];
}

}  // namespace fairlead::report::html
