// Compares runs: bar charts of time and transfers, then tables.
#include <fmt/format.h>

#include "report/html/bars.hpp"
#include "report/html/charts/legend.hpp"
#include "report/html/comparison_tables.hpp"
#include "report/html/comparison_traffic.hpp"
#include "report/html/parts.hpp"
#include "report/units.hpp"

namespace fairlead::report::html {

namespace {

using memory::Cause;

std::string time_bars(const Comparison& comparison) {
  Bars bars("Time", {{comparison.compute_seconds, Mark::Look::line,
                      "at best, computing alone: " + readable_seconds(comparison.compute_seconds)}});
  for (const ComparedRun& run : comparison.runs)
    if (finished(run))
      bars.bar(run.report.scheduler, {{run.report.seconds, "c0", readable_seconds(run.report.seconds)}},
               fmt::format("{}, {:.0f} %", readable_seconds(run.report.seconds),
                           comparison.percent_of_peak(run.report)));
  return bars.html();
}

std::string byte_bars(const Comparison& comparison, const TrafficDirection& direction) {
  std::vector<Mark> marks;
  if (direction.bounded && comparison.bus_limit_bytes != 0)
    marks.push_back({static_cast<double>(comparison.bus_limit_bytes), Mark::Look::line,
                     "what gets through while computing: " + moved_bytes(comparison.bus_limit_bytes)});
  if (direction.bounded && comparison.io)
    marks.push_back({static_cast<double>(comparison.io->lower_bound()), Mark::Look::dotted,
                     "lower bound: " + moved_bytes(comparison.io->lower_bound())});
  std::string title = "Bytes " + direction.title;
  Bars bars(title, marks);
  for (const ComparedRun& run : comparison.runs) {
    if (!finished(run)) continue;
    const ByCause traffic = direction.of(run);
    std::vector<BarSegment> parts;
    for (std::size_t cause = 0; cause < memory::cause_count; ++cause)
      parts.push_back(
          {static_cast<double>(traffic[cause].bytes), fmt::format("u{}", cause),
           fmt::format("{}: {}", name_of(static_cast<Cause>(cause)), moved_bytes(traffic[cause].bytes))});
    bars.bar(run.report.scheduler, std::move(parts), bytes_cell(sum(traffic)));
  }
  return bars.html();
}

std::string causes() {
  std::vector<LegendEntry> entries;
  for (std::size_t cause = 0; cause < memory::cause_count; ++cause)
    entries.push_back({fmt::format("u{}", cause), std::string(name_of(static_cast<Cause>(cause)))});
  return legend(entries);
}

}  // namespace

std::string compared(const Comparison& comparison) {
  std::string text = "<section id=\"compared\" aria-label=\"Policies side by side\">\n";
  if (comparison.runs.size() > 1) {
    text += "<div class=\"charts\">\n" + time_bars(comparison);
    for (const TrafficDirection& direction : directions_of(comparison))
      text += byte_bars(comparison, direction);
    text += "</div>\n" + causes();
  }
  return text + compared_tables(comparison) + "</section>\n";
}

}  // namespace fairlead::report::html
