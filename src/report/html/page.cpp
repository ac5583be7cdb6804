// The page around its parts.
#include "report/html/page.hpp"

#include <fmt/format.h>

#include "report/html/parts.hpp"
#include "report/units.hpp"

namespace fairlead::report {

namespace {

using html::escaped;

std::string title_of(const RunReport& report) {
  return report.n == 0 ? report.operation
                       : fmt::format("{}, n = {}", report.operation, with_commas(report.n));
}

constexpr std::string_view chart_of_the_run = R"html(<section id="run" aria-label="The run over time">
<div class="bar">
<div id="legend" class="legend" aria-label="Kinds of task"></div>
<div class="buttons"><span id="spans"></span><button id="out" title="Zoom out (-)">&minus;</button><button id="in" title="Zoom in (+)">+</button><button id="all" title="The whole run (0)">all</button></div>
</div>
<div id="chart"><canvas id="plot" tabindex="0" role="img" aria-label="Tasks of each worker, copies on each link and use of memory over time. The tables below tell the same in numbers."></canvas><canvas id="cross" aria-hidden="true"></canvas><div id="tip" class="tip" role="tooltip" hidden></div></div>
<p class="keys"><span class="screen">Zoom: <kbd>Ctrl</kbd> + wheel, wheel after a click, <kbd>+</kbd> <kbd>&minus;</kbd>. Move: drag, <kbd>&larr;</kbd> <kbd>&rarr;</kbd>. <kbd>Shift</kbd> + drag: that span. <kbd>0</kbd>: all. </span><span id="notes"></span></p>
</section>
)html";

/// A page whose pictures are added one by one: what is seen where it comes, scripts at the end.
class Page {
 public:
  explicit Page(const RunReport& report) : version_(report.version) {
    text_ = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; "
        "script-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{} - "
        "Fairlead</title>\n<style>{}</style>\n"
        "</head>\n<body>\n<header>\n<h1>{}</h1>\n<p>{}</p>\n<button id=\"theme\" title=\"Light or dark\" "
        "aria-label=\"Light or dark\" hidden>&#9680;</button>\n</header>\n",
        escaped(title_of(report)), html::style, escaped(title_of(report)),
        escaped(fmt::format("{}{}{}", report.date, report.date.empty() || report.machine.empty() ? "" : ", ",
                            report.machine)));
  }
  void add(std::string_view part) { text_ += part; }
  void chart(const trace::Snapshot& recorded) {
    if (recorded.tasks.empty() && recorded.copies.empty()) return;
    add(chart_of_the_run);
    data("names", "numbers", html::chart_data(recorded));
    for (const std::string_view script : {html::script_data, html::script_draw, html::script_use})
      scripts_ += script;
  }
  void timelines(const Comparison& comparison) {
    const std::optional<html::PictureData> data_of_all = html::timeline_data(comparison);
    if (!data_of_all) return;
    add(html::timeline_section);
    data("timeline-names", "timeline-numbers", *data_of_all);
    scripts_ += html::script_timelines;
  }
  void order(const TaskOrder& order) {
    if (order.empty()) return;
    add(html::order_section);
    data("order-names", "order-numbers", html::order_data(order));
    for (const std::string_view script : {html::script_order, html::script_order_use}) scripts_ += script;
  }
  std::string take() {
    text_ += fmt::format("<footer>Fairlead {}</footer>\n", escaped(version_)) + data_;
    if (!scripts_.empty())
      text_ += fmt::format("<script>\n\"use strict\";\n{}{}{}</script>\n", html::script_page, scripts_,
                           html::script_begin);
    return std::move(text_) + "</body>\n</html>\n";
  }

 private:
  void data(std::string_view names_id, std::string_view numbers_id, const html::PictureData& data) {
    data_ += fmt::format(
        "<script type=\"application/json\" id=\"{}\">{}</script>\n"
        "<script type=\"text/plain\" id=\"{}\">{}</script>\n",
        names_id, data.names, numbers_id, data.numbers);
  }

  std::string version_, text_, data_, scripts_;
};

}  // namespace

std::string html_page(const RunReport& report, const trace::Snapshot& recorded) {
  Page page(report);
  page.add(html::figures(report));
  page.chart(recorded);
  page.add(html::tables(report, recorded));
  return page.take();
}

std::string comparison_page(const Comparison& comparison, const trace::Snapshot& recorded) {
  const RunReport& first = comparison.runs.front().report;
  Page page(first);
  if (comparison.runs.size() == 1) {
    page.add(html::figures(first));
    page.chart(recorded);
    page.order(comparison.order);
    page.add(html::compared(comparison));
    page.add(html::tables(first, recorded));
  } else {
    page.add(html::compared(comparison));
    page.timelines(comparison);
    page.order(comparison.order);
  }
  return page.take();
}

}  // namespace fairlead::report
