// What the page is put together from, one source file each.
#pragma once
#include <string>
#include <string_view>

#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::report::html {

/// The page's style, and its scripts in the order in which they run.
extern const std::string_view style;
extern const std::string_view script_data, script_draw, script_use;

/// With <, >, & and " as entities.
std::string escaped(std::string_view text);
/// The figures that stand at the top.
std::string figures(const RunReport& report);
/// All that the report tells, in tables.
std::string tables(const RunReport& report, const trace::Snapshot& recorded);

/// The chart's data: `names` is a JSON object, `numbers` are varints in base64. script_data reads both.
struct ChartData {
  std::string names, numbers;
};
ChartData chart_data(const trace::Snapshot& recorded);

}  // namespace fairlead::report::html
