// The parts of the page, one source file each.
#pragma once
#include <optional>
#include <string>

#include "report/comparison.hpp"
#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::report::html {

/// The key figures at the top. `shown_seconds`: the length of the chart's time axis; 0: no chart.
std::string figures(const RunReport& report, double shown_seconds = 0);
/// The tables of the report.
std::string tables(const RunReport& report, const trace::Snapshot& recorded);
/// The tables of ranks and of the transfers between them; empty for a single rank.
std::string ranks(const RunReport& report);
/// The comparison of runs, as tables and as bar charts.
std::string compared(const Comparison& comparison);

/// The data of a chart: `names` is a JSON object, `numbers` are varints in base64.
struct PictureData {
  std::string names, numbers;
};
/// Data for run/records.js. `disk_cap`: the limit of the disk's bandwidth in bytes per second, if any.
PictureData chart_data(const trace::Snapshot& recorded, std::optional<double> disk_cap = {});
/// Data for timelines/timelines.js; none if no run has timelines.
std::optional<PictureData> timeline_data(const Comparison& comparison);
/// Data for order/tasks.js.
PictureData order_data(const TaskOrder& order);

}  // namespace fairlead::report::html
