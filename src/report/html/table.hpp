// A table of the page, put together row by row.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::report::html {

class Table {
 public:
  /// A section of its own with a title; no row of heads if all are empty.
  Table(std::string_view title, const std::vector<std::string>& heads);
  /// The last column holds words, not numbers.
  void with_notes() { notes_ = true; }
  /// The first cell names the row; missing ones are empty.
  void row(std::vector<std::string> cells, std::string_view kind = "");
  /// A sentence below.
  void remark(std::string_view text);
  /// Nothing if there is no row.
  std::string take();

 private:
  std::string text_, remark_;
  std::size_t columns_, rows_ = 0;
  bool notes_ = false;
};

}  // namespace fairlead::report::html
