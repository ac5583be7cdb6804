// HTML tables.
#include "report/html/html_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/html/escaped.hpp"

namespace fairlead::report::html {

HtmlTable::HtmlTable(std::string_view title, const std::vector<std::string>& heads) : columns_(heads.size()) {
  text_ = fmt::format("<section><h2>{}</h2>\n<table>", escape(title));
  if (std::ranges::any_of(heads, [](const std::string& head) { return !head.empty(); })) {
    text_ += "<thead><tr>";
    for (const std::string& head : heads) text_ += fmt::format("<th>{}</th>", escape(head));
    text_ += "</tr></thead>";
  }
  text_ += "<tbody>\n";
}

void HtmlTable::row(std::vector<std::string> cells, std::string_view kind) {
  cells.resize(columns_);
  text_ += kind.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", kind);
  text_ += fmt::format("<th>{}</th>", escape(cells[0]));
  for (std::size_t i = 1; i < cells.size(); ++i)
    text_ += fmt::format("<td{}>{}</td>", notes_ && i + 1 == cells.size() ? " class=\"note\"" : "",
                         escape(cells[i]));
  text_ += "</tr>\n";
  ++rows_;
}

void HtmlTable::remark(std::string_view text) { remark_ = fmt::format("<p>{}</p>", escape(text)); }

std::string HtmlTable::take() {
  return rows_ == 0 ? std::string() : std::move(text_) + "</tbody></table>" + remark_ + "</section>\n";
}

}  // namespace fairlead::report::html
