// Escapes text for table cells.
#include "report/table_cells.hpp"

namespace fairlead::report {

std::string csv_cell(std::string_view text, bool quotes) {
  if (!quotes && text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + '"';
}

std::string markdown_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  return cell;
}

}  // namespace fairlead::report
