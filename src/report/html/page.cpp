// Assembles the page from its parts.
#include "report/html/page.hpp"

#include <fmt/format.h>

#include "report/html/escaped.hpp"
#include "report/html/page_files.hpp"
#include "report/html/parts.hpp"
#include "report/units.hpp"

namespace fairlead::report {

namespace {

using html::escape;
using Names = std::span<const std::string_view>;

// If several style sheets define the same property, the last one applies; scripts run in this order.
constexpr std::string_view styles[] = {"charts/light.css",  "page/page.css", "page/tables.css",
                                       "charts/charts.css", "run/run.css",   "timelines/timelines.css",
                                       "order/order.css",   "page/paper.css"};
constexpr std::string_view shared_scripts[] = {"page/numbers.js", "charts/colours.js", "page/theme.js",
                                               "charts/axis.js",  "charts/canvas.js",  "charts/legend.js",
                                               "charts/tip.js",   "charts/words.js"};
constexpr std::string_view run_scripts[] = {
    "run/records.js", "run/words.js", "run/rows.js",    "run/workers.js", "run/links.js", "run/memory.js",
    "run/draw.js",    "run/view.js",  "run/pointed.js", "run/mouse.js",   "run/keys.js",  "run/legend.js"};
constexpr std::string_view timelines_scripts[] = {"timelines/timelines.js", "timelines/draw.js",
                                                  "timelines/mouse.js"};
constexpr std::string_view order_scripts[] = {"order/tasks.js", "order/shades.js", "order/pictures.js",
                                              "order/choices.js", "order/mouse.js"};
constexpr std::string_view last_script = "page/begin.js";

/// A chart drawn by scripts: its markup, its scripts, and the elements that hold its data.
struct Picture {
  std::string_view markup;
  Names scripts;
  std::string_view names, numbers;
};
constexpr Picture run_picture{"run/run.html", run_scripts, "names", "numbers"};
constexpr Picture timelines_picture{"timelines/timelines.html", timelines_scripts, "timeline-names",
                                    "timeline-numbers"};
constexpr Picture order_picture{"order/order.html", order_scripts, "order-names", "order-numbers"};

std::string title_of(const RunReport& report) {
  std::string title =
      report.n == 0 ? report.operation : fmt::format("{}, {}", report.operation, size_text(report));
  if (!report.ranks.empty()) title += fmt::format(", {} ranks", report.ranks.size());
  return title;
}

double shown_seconds(const trace::Snapshot& recorded) {
  return recorded.tasks.empty() && recorded.copies.empty() ? 0 : seconds(recorded.end() - recorded.begin());
}

/// A page under construction: markup in the order of the calls, scripts at the end.
class Page {
 public:
  void add(std::string_view part) { parts_ += part; }
  void run(const RunReport& report, const trace::Snapshot& recorded) {
    if (recorded.tasks.empty() && recorded.copies.empty()) return;
    add(run_picture, html::chart_data(recorded, report.disk_cap_bytes_per_second));
  }
  void timelines(const Comparison& comparison) {
    if (const std::optional<html::PictureData> of_all = html::timeline_data(comparison))
      add(timelines_picture, *of_all);
  }
  void order(const TaskOrder& order) {
    if (!order.empty()) add(order_picture, html::order_data(order));
  }
  /// The complete page, with the setting of `report` at the top.
  std::string text(const RunReport& report) const {
    const std::string between = report.date.empty() || report.machine.empty() ? "" : ", ";
    const std::string script = scripts_.empty() ? std::string()
                                                : fmt::format("<script>\n\"use strict\";\n{}{}{}</script>\n",
                                                              html::concatenated_page_files(shared_scripts),
                                                              scripts_, html::page_file(last_script));
    return html::fill_template(html::page_file("page/page.html"),
                               {{"title", escape(title_of(report))},
                                {"style", html::concatenated_page_files(styles)},
                                {"dark", html::page_file("charts/dark.css")},
                                {"where", escape(report.date + between + report.machine)},
                                {"parts", parts_},
                                {"version", escape(report.version)},
                                {"data", data_},
                                {"script", script}});
  }

 private:
  void add(const Picture& picture, const html::PictureData& data) {
    add(html::page_file(picture.markup));
    data_ += fmt::format(
        "<script type=\"application/json\" id=\"{}\">{}</script>\n"
        "<script type=\"text/plain\" id=\"{}\">{}</script>\n",
        picture.names, data.names, picture.numbers, data.numbers);
    scripts_ += html::concatenated_page_files(picture.scripts);
  }

  std::string parts_, data_, scripts_;
};

}  // namespace

std::string html_page(const RunReport& report, const trace::Snapshot& recorded) {
  Page page;
  page.add(html::figures(report, shown_seconds(recorded)));
  page.run(report, recorded);
  page.add(html::ranks(report));
  page.add(html::tables(report, recorded));
  return page.text(report);
}

std::string comparison_page(const Comparison& comparison, const trace::Snapshot& recorded) {
  const RunReport& first = comparison.runs.front().report;
  Page page;
  if (comparison.runs.size() == 1) {
    page.add(html::figures(first, shown_seconds(recorded)));
    page.run(first, recorded);
    page.order(comparison.order);
    page.add(html::compared(comparison));
    page.add(html::tables(first, recorded));
  } else {
    page.add(html::compared(comparison));
    page.timelines(comparison);
    page.order(comparison.order);
  }
  return page.text(first);
}

}  // namespace fairlead::report
