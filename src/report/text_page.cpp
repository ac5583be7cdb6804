// Margins, and lines that are broken between parts.
#include "report/text_page.hpp"

#include <fmt/format.h>

#include "report/units.hpp"

namespace fairlead::report {

void TextPage::row(std::string_view heading, std::string_view line) {
  std::string whole = fmt::format("{:<{}}{}", heading, heading_width, line);
  whole.erase(whole.find_last_not_of(' ') + 1);
  text_ += whole;
  text_ += '\n';
}

void TextPage::parts(std::string_view heading, const std::vector<std::string>& parts,
                     std::string_view separator) {
  std::string line;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!line.empty() && heading_width + line.size() + separator.size() + part.size() > width) {
      row(heading, line);
      heading = "";
      line.clear();
    }
    line += line.empty() ? part : std::string(separator) + part;
  }
  if (!line.empty()) row(heading, line);
}

std::vector<std::string> times(const RunReport& report) {
  std::vector<std::string> parts{readable_seconds(report.seconds)};
  const auto add = [&](bool counts, const char* before, const char* between) {
    for (const Phase& phase : report.phases) {
      if (phase.counts != counts) continue;
      parts.push_back(fmt::format("{}{} {}", before, phase.name, readable_seconds(phase.seconds)));
      before = between;
    }
  };
  add(true, " = ", " + ");
  add(false, "; besides, ", ", ");
  return parts;
}

}  // namespace fairlead::report
