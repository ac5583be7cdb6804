// Text in cells of tables that programs and people read.
#pragma once
#include <string>
#include <string_view>

namespace fairlead::report {

/// Of CSV: within quotes, if it has to be or `quotes` says so.
std::string csv_cell(std::string_view text, bool quotes = false);
/// Of Markdown: what would end the cell or the row does not.
std::string markdown_cell(std::string_view text);

}  // namespace fairlead::report
