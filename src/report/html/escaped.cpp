// All text of pages and pictures is escaped here.
#include "report/html/escaped.hpp"

#include "base/printable.hpp"

namespace fairlead::report::html {

std::string escape(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace fairlead::report::html
