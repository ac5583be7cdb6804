// Margins, and line breaks between parts.
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

std::vector<std::string> sentences(const LimitingFactor& limiting, bool with_advice) {
  std::vector<std::string> all;
  std::string rest = limiting.display_name() + ": " + limiting.reason();
  if (const std::string advice = limiting.advice(); with_advice && !advice.empty()) rest += "; " + advice;
  for (std::size_t at = rest.find("; "); at != std::string::npos; at = rest.find("; ")) {
    all.push_back(rest.substr(0, at));
    rest.erase(0, at + 2);
  }
  all.push_back(rest);
  return all;
}

std::vector<std::string> times(const RunReport& report) {
  // A separator stays at the end of a line.
  std::vector<std::string> parts{readable_seconds(report.seconds)};
  const auto add = [&](bool counts, std::string_view before, std::string_view word) {
    for (const PhaseReport& phase : report.phases) {
      if (phase.counts != counts) continue;
      parts.back() += before;
      parts.push_back(fmt::format("{}{} {}", word, phase.name, readable_seconds(phase.seconds)));
      before = ", ";
      word = "";
    }
  };
  add(true, ": ", "");
  add(false, "; ", "also ");
  return parts;
}

}  // namespace fairlead::report
