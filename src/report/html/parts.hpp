// What the page is put together from, one source file each.
#pragma once
#include <optional>
#include <string>

#include "report/comparison.hpp"
#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::report::html {

/// The figures that stand at the top. `shown_seconds`: how long the run is that the chart below shows; 0: there is none.
std::string figures(const RunReport& report, double shown_seconds = 0);
/// All that the report tells, in tables.
std::string tables(const RunReport& report, const trace::Snapshot& recorded);
/// What ranks did, and what they got from each other; nothing of one alone.
std::string ranks(const RunReport& report);
/// Runs side by side, as a table and as bars.
std::string compared(const Comparison& comparison);

/// What a picture is drawn from: `names` is a JSON object, `numbers` are varints in base64.
struct PictureData {
  std::string names, numbers;
};
/// Read by run/records.js. `disk_cap`: bytes per second that the disk was used for at most, if that was limited.
PictureData chart_data(const trace::Snapshot& recorded, std::optional<double> disk_cap = {});
/// Read by timelines/timelines.js; nothing where no run has timelines.
std::optional<PictureData> timeline_data(const Comparison& comparison);
/// Read by order/tasks.js.
PictureData order_data(const TaskOrder& order);

}  // namespace fairlead::report::html
