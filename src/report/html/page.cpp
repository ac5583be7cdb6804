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
<div id="chart"><canvas id="plot" tabindex="0" role="img" aria-label="Tasks of each worker, copies on each link and use of memory over time. The tables below tell the same in numbers."></canvas><canvas id="cross" aria-hidden="true"></canvas><div id="tip" role="tooltip" hidden></div></div>
<p class="keys"><span class="screen">Zoom: <kbd>Ctrl</kbd> + wheel, wheel after a click, <kbd>+</kbd> <kbd>&minus;</kbd>. Move: drag, <kbd>&larr;</kbd> <kbd>&rarr;</kbd>. <kbd>Shift</kbd> + drag: that span. <kbd>0</kbd>: all. </span><span id="notes"></span></p>
</section>
)html";

}  // namespace

std::string html_page(const RunReport& report, const trace::Snapshot& recorded) {
  const bool chart = !recorded.tasks.empty() || !recorded.copies.empty();
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{} - Fairlead</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<header>\n<h1>{}</h1>\n<p>{}</p>\n"
      "<button id=\"theme\" title=\"Light or dark\" aria-label=\"Light or "
      "dark\">&#9680;</button>\n</header>\n",
      escaped(title_of(report)), html::style, escaped(title_of(report)),
      escaped(fmt::format("{}{}{}", report.date, report.date.empty() || report.machine.empty() ? "" : ", ",
                          report.machine)));
  page += html::figures(report);
  if (chart) page += chart_of_the_run;
  page += html::tables(report, recorded);
  page += fmt::format("<footer>Fairlead {}</footer>\n", escaped(report.version));
  if (chart) {
    const html::ChartData data = html::chart_data(recorded);
    page += fmt::format(
        "<script type=\"application/json\" id=\"names\">{}</script>\n"
        "<script type=\"text/plain\" id=\"numbers\">{}</script>\n<script>\n\"use strict\";\n",
        data.names, data.numbers);
    page += html::script_data;
    page += html::script_draw;
    page += html::script_use;
    page += "</script>\n";
  }
  page += "</body>\n</html>\n";
  return page;
}

}  // namespace fairlead::report
