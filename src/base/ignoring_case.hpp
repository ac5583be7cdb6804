// Comparison of names in ASCII that are written in upper or lower case.
#pragma once
#include <algorithm>
#include <cctype>
#include <string_view>

namespace fairlead {

inline bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace fairlead
