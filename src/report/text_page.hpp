// A page for a terminal: a margin with headings, lines of at most a hundred columns.
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

  /// A line; `heading` stands in the left margin.
  void row(std::string_view heading, std::string_view line);
  /// Parts, as many on a line as fit.
  void parts(std::string_view heading, const std::vector<std::string>& parts, std::string_view separator);
  void blank() { text_ += '\n'; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// The time and the phases that it is the sum of; behind them those that it does not count. Parts of a line.
std::vector<std::string> times(const RunReport& report);

/// What limited the run, and why; parts of a line.
std::vector<std::string> sentences(const Limiting& limiting, bool with_advice);

}  // namespace fairlead::report
