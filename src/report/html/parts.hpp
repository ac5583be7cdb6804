// What the page is put together from, one source file each.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "report/comparison.hpp"
#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::report::html {

/// The page's style, and its scripts in the order in which they run.
extern const std::string_view style;
extern const std::string_view script_page;                           // with any picture
extern const std::string_view script_data, script_draw, script_use;  // with the chart of a run
extern const std::string_view script_order, script_order_use;        // with the order of tasks
extern const std::string_view script_timelines;                      // with several runs
extern const std::string_view script_begin;                          // with any picture

/// With <, >, & and " as entities.
std::string escaped(std::string_view text);
/// The figures that stand at the top.
std::string figures(const RunReport& report);
/// All that the report tells, in tables.
std::string tables(const RunReport& report, const trace::Snapshot& recorded);

/// Runs side by side, as a table and as bars.
std::string compared(const Comparison& comparison);
/// Where the order of tasks is drawn.
extern const std::string_view order_section;

/// What a picture is drawn from: `names` is a JSON object, `numbers` are varints in base64.
struct PictureData {
  std::string names, numbers;
};
/// Read by script_data.
PictureData chart_data(const trace::Snapshot& recorded);
/// Read by script_timelines; nothing where no run has timelines.
std::optional<PictureData> timeline_data(const Comparison& comparison);
extern const std::string_view timeline_section;
/// Read by script_order.
PictureData order_data(const TaskOrder& order);

}  // namespace fairlead::report::html
