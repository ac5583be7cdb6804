// Scales the longest bar or the furthest mark to the available width.
#include "report/html/bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/html/escaped.hpp"

namespace fairlead::report::html {

Bars::Bars(std::string title, std::vector<Mark> marks) : title_(std::move(title)), marks_(std::move(marks)) {
  for (const Mark& mark : marks_) most_ = std::max(most_, mark.at);
}

void Bars::bar(const std::string& name, std::vector<BarSegment> parts, std::string total) {
  double all = 0;
  for (const BarSegment& part : parts) all += part.amount;
  most_ = std::max(most_, all);
  rows_.push_back({name, std::move(parts), std::move(total)});
}

std::string Bars::html() const {
  const auto percent_of_most = [this](double amount) { return most_ > 0 ? 100 * amount / most_ : 0; };
  std::string text = fmt::format("<section><h2>{}</h2>\n<div class=\"bars\">\n", escape(title_));
  for (const Row& row : rows_) {
    text += fmt::format("<span>{}</span><div>", escape(row.name));
    for (const BarSegment& part : row.parts)
      if (part.amount > 0)
        text += fmt::format("<i style=\"width:{:.3f}%;background:var(--{})\" title=\"{}\"></i>",
                            percent_of_most(part.amount), part.colour, escape(part.what));
    for (const Mark& mark : marks_)
      text += fmt::format("<b class=\"{}\" style=\"left:{:.3f}%\" title=\"{}\"></b>",
                          mark.look == Mark::Look::dotted ? "soft" : "",
                          std::min(99.6, percent_of_most(mark.at)), escape(mark.what));
    text += fmt::format("</div><span>{}</span>\n", escape(row.total));
  }
  text += "</div>\n";
  for (const Mark& mark : marks_)
    text += fmt::format("<p>{}: {}</p>\n", mark.look == Mark::Look::dotted ? "dotted line" : "line",
                        escape(mark.what));
  return text + "</section>\n";
}

}  // namespace fairlead::report::html
