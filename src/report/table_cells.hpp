// Text for cells of CSV and Markdown tables.
#pragma once
#include <string>
#include <string_view>

namespace fairlead::report {

/// A CSV cell, quoted if necessary or if `quotes` is set.
std::string csv_cell(std::string_view text, bool quotes = false);
/// A Markdown cell, with characters escaped that would end the cell or the row.
std::string markdown_cell(std::string_view text);

}  // namespace fairlead::report
