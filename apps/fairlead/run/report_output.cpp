// See report_output.hpp.
#include "fairlead/run/report_output.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cstdio>

#include "report/html/page.hpp"
#include "report/perfetto.hpp"
#include "report/report_file.hpp"
#include "solver/trust.hpp"

namespace fairlead::app {

void publish(const report::RunReport& report, const Config& config,
             std::span<const trace::Snapshot> recorded) {
  const bool quiet = config.flag("quiet"), full = config.text("report-text") == "full";
  if (!quiet) fmt::print("{}", full ? report::text(report) : report::summary(report));
  const auto write = [&](const char* key, const char* what, const auto& put) {
    if (!config.has(key)) return;
    const std::string& path = config.text(key);
    report::ReportFile file(path);
    put([&file](std::string_view text) { file.append(text); });
    file.commit();
    if (quiet) return;
    fmt::print("{}{}: {}\n", full && std::string_view(key) == "json" ? "\n" : "", what, path);
  };
  write("json", "JSON report", [&](auto&& out) { out(report::json(report).text()); });
  write("report", "HTML report", [&](auto&& out) { out(report::html_page(report, recorded.front())); });
  write("trace", "Trace for ui.perfetto.dev", [&](auto&& out) { report::write_perfetto(recorded, out); });
  for (const trace::Snapshot& of : recorded)
    if (const std::string missing = trace::dropped_text(of);
        !quiet && !missing.empty() && (config.has("report") || config.has("trace")))
      fmt::print("{}{}\n", recorded.size() == 1 ? "" : of.process + ": ", missing);
  if (!report.not_written.empty()) throw SystemError(report.not_written);
}

ExitCode publish_result(const report::RunReport& report, const Config& config,
                        std::span<const trace::Snapshot> recorded, const std::string& kept,
                        const std::string& remark) {
  const auto wrong = solver::wrong_answer(report);
  try {
    publish(report, config, recorded);
  } catch (const Error& error) {
    if (wrong || kept.empty()) throw;
    throw SystemError(fmt::format("{}\n  {}", error.what(), kept));
  }
  if (!wrong) return success;
  std::fflush(stdout);  // print the report before the error
  fmt::print(stderr, "fairlead: {}{}\n", *wrong, remark);
  return wrong_result;
}

void require_place_for_report(const Config& config) {
  for (const char* key : {"json", "report", "trace", "event-log"})
    if (config.has(key)) report::require_place_for(config.text(key));
}

void write_json(const std::string& path, const Json& json) { report::write_file(path, json.text()); }

}  // namespace fairlead::app
