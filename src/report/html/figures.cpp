// The key figures at the top of a page, each with its bound, and the limiting factor of the run.
#include <fmt/format.h>

#include "config/value.hpp"
#include "report/html/escaped.hpp"
#include "report/html/parts.hpp"
#include "report/units.hpp"

namespace fairlead::report::html {

using config::readable_size;

std::string figures(const RunReport& report, double shown_seconds) {
  std::string text = "<dl class=\"figures\">\n";
  const auto add = [&text](std::string_view what, const std::string& value, const std::string& remark) {
    text +=
        fmt::format("<div><dt>{}</dt><dd>{}</dd><dd>{}</dd></div>\n", what, escape(value), escape(remark));
  };
  // The chart's time axis is longer if some phases of the run do not count.
  constexpr double alike = 1.02;
  const std::string shown = shown_seconds > alike * report.seconds &&
                                    readable_seconds(shown_seconds) != readable_seconds(report.seconds)
                                ? fmt::format("of {} that are shown below", readable_seconds(shown_seconds))
                                : "";
  const std::string best =
      report.ceiling ? readable_seconds(report.ceiling->compute_seconds) + " of computing at best" : "";
  add("time", readable_seconds(report.seconds), best + (best.empty() || shown.empty() ? "" : "; ") + shown);
  if (report.gflops > 0)
    add("speed", fmt::format("{:.1f} GFlop/s", report.gflops),
        report.ceiling_gflops
            ? fmt::format("{} of the ceiling, {:.1f}", percent(report.gflops, *report.ceiling_gflops),
                          *report.ceiling_gflops)
            : "");
  const Bytes both = report.bytes_read + report.bytes_written;
  if (both != 0)
    add("to and from disk", moved_bytes(both),
        report.ratio_to_floor() ? fmt::format("{:.2f} x the least, {}", *report.ratio_to_floor(),
                                              moved_bytes(report.bounds->floor()))
                                : "");
  if (report.memory_limit_bytes != 0)
    add("peak memory", readable_size(report.peak_memory_bytes),
        fmt::format("{} of {} allowed",
                    percent(static_cast<double>(report.peak_memory_bytes),
                            static_cast<double>(report.memory_limit_bytes)),
                    readable_size(report.memory_limit_bytes)));
  if (report.limiting && !report.worker_times.empty()) {
    const LimitingFactor& it = *report.limiting;
    add(it.on_devices ? "devices computed" : "workers computed", percent(it.busy, 1),
        fmt::format(
            "{} tasks{}", with_commas(report.tasks),
            it.runnable_on_core ? fmt::format("; had a core for {}", percent(*it.runnable_on_core, 1)) : ""));
  }
  if (report.backward_error) add("backward error", fmt::format("{:.1e}", *report.backward_error), "");
  text += "</dl>\n";
  if (!report.limiting) return text;
  const std::string advice = report.limiting->advice();
  return text + fmt::format("<p class=\"limit\">Limited by <b>{}</b>: <span>{}{}{}</span></p>\n",
                            escape(report.limiting->display_name()), escape(report.limiting->reason()),
                            advice.empty() ? "" : "; ", escape(advice));
}

}  // namespace fairlead::report::html
