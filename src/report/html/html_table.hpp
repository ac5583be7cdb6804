// A table of the page, built row by row.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::report::html {

class HtmlTable {
 public:
  /// Starts a section with a title; there is no header row if all heads are empty.
  HtmlTable(std::string_view title, const std::vector<std::string>& heads);
  /// The last column holds text, not numbers.
  void with_notes() { notes_ = true; }
  /// The first cell is the row's header; missing cells are empty.
  void row(std::vector<std::string> cells, std::string_view kind = "");
  /// Sets a sentence below the table.
  void remark(std::string_view text);
  /// The HTML text; empty if there are no rows.
  std::string take();

 private:
  std::string text_, remark_;
  std::size_t columns_, rows_ = 0;
  bool notes_ = false;
};

}  // namespace fairlead::report::html
