// The report and trace files of a user's program, from the counters of its runtime.
#include <fairlead/report.hpp>
#include <fairlead/version.hpp>

#include <string>
#include <string_view>

#include "engine/runtime_core.hpp"
#include "front/ranks/file_of_rank.hpp"
#include "front/runtime/runtime_access.hpp"
#include "report/html/page.hpp"
#include "report/perfetto.hpp"
#include "report/report_file.hpp"
#include "report/resident.hpp"
#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead {

namespace {

report::RunReport report_of(Runtime& runtime, const trace::Snapshot& recorded) {
  const Statistics counted = runtime.statistics();
  report::RunReport report;
  report.version = version();
  report.seconds = seconds(recorded.end() - recorded.begin());
  report.workers = static_cast<unsigned>(counted.workers.size());
  report.scheduler = counted.scheduler;
  report.active_policy = counted.active_policy;
  report.tasks = counted.tasks;
  report.generated = {counted.generated.bytes, counted.generated.copies};
  for (const Statistics::Link& link : counted.links) {
    if (link.home == "generator" && report.generated.copies == 0) continue;
    report::LinkReport& of_link = report.links.emplace_back();
    of_link.name = link.name;
    for (std::size_t cause = 0; cause < memory::cause_count; ++cause) {
      of_link.from_home[cause] = {link.from_home[cause].bytes, link.from_home[cause].copies};
      of_link.to_home[cause] = {link.to_home[cause].bytes, link.to_home[cause].copies};
    }
    of_link.busy_seconds = seconds(link.busy);
    if (link.home != "disk") continue;
    report.bytes_read += link.bytes_from_home();
    report.bytes_written += link.bytes_to_home();
  }
  for (const Statistics::Node& node : counted.nodes) {
    report.nodes.push_back({node.name, node.capacity, node.peak_bytes, node.lost});
    report.evictions += node.evictions;
  }
  for (std::size_t i = 0; i < counted.workers.size(); ++i) {
    const Statistics::Worker& worker = counted.workers[i];
    const auto core = front::core_of(runtime).world().core_time_of_worker(static_cast<WorkerId>(i));
    report.worker_times.push_back(
        {.busy_seconds = seconds(worker.busy),
         .waiting_for_data_seconds = seconds(worker.waiting_for_data),
         .waiting_for_tasks_seconds = seconds(worker.waiting_for_tasks),
         .tasks = worker.tasks,
         .on_device = report::is_of_device(worker.node),
         .on_core_seconds = core ? std::optional(seconds(core->on_core)) : std::nullopt,
         .without_core_seconds = core ? std::optional(seconds(core->waiting)) : std::nullopt});
  }
  report.counted_seconds = report.seconds;
  fill_up_times(report.worker_times, report.seconds);
  report.limiting = limiting(measured(report.worker_times, report.seconds, report.links));
  report.peak_resident_bytes = report::peak_resident_bytes();
  report.resident_parts = report::resident_parts();
  return report;
}

std::string path_of(const Runtime& runtime, const std::string& asked) {
  return front::file_of_rank(asked, runtime.rank());
}

}  // namespace

void write_recorded(Runtime& runtime, const Config& config, const std::string& title) {
  if (!config.has("trace") && !config.has("report")) return;
  const trace::Snapshot recorded = front::recorded_by(runtime);
  if (config.has("report")) {
    report::RunReport report = report_of(runtime, recorded);
    report.operation = title;
    report::write_file(path_of(runtime, config.text("report")), report::html_page(report, recorded));
  }
  if (config.has("trace")) report::write_trace(path_of(runtime, config.text("trace")), recorded);
}

}  // namespace fairlead
