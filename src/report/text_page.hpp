// A page for a terminal: headings in the left margin, and lines of at most 100 columns.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/run_report.hpp"

namespace fairlead::report {

class TextPage {
 public:
  static constexpr std::size_t width = 100, heading_width = 16;

  /// Adds a line, with `heading` in the left margin.
  void row(std::string_view heading, std::string_view line);
  /// Adds parts, as many per line as fit.
  void parts(std::string_view heading, const std::vector<std::string>& parts, std::string_view separator);
  void blank() { text_ += '\n'; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// The time and the phases that it includes, then the other phases, as parts of a line.
std::vector<std::string> times(const RunReport& report);

/// The limiting factor and its reason, as parts of a line.
std::vector<std::string> sentences(const LimitingFactor& limiting, bool with_advice);

}  // namespace fairlead::report
