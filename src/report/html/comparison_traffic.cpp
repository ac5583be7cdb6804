// Adds up the traffic of links.
#include "report/html/comparison_traffic.hpp"

#include <algorithm>

#include "report/units.hpp"

namespace fairlead::report::html {

Bytes sum(const ByCause& traffic) {
  Bytes bytes = 0;
  for (const TransferTotals& one : traffic) bytes += one.bytes;
  return bytes;
}

ByCause TrafficDirection::of(const ComparedRun& run) const {
  ByCause all{};
  const auto found = std::ranges::find(run.totals, total, &LinkReport::name);
  if (found == run.totals.end()) return all;
  for (std::size_t cause = 0; cause < all.size(); ++cause)
    all[cause].bytes =
        (from_home ? found->from_home[cause].bytes : 0) + (to_home ? found->to_home[cause].bytes : 0);
  return all;
}

std::vector<TrafficDirection> directions_of(const Comparison& comparison) {
  std::vector<TrafficDirection> all;
  const auto add = [&](const char* title, const char* total, bool from_home, bool to_home) {
    const TrafficDirection direction{title, total, from_home, to_home,
                                     from_home && total == comparison.bounded_total};
    if (std::ranges::any_of(comparison.runs,
                            [&](const ComparedRun& run) { return sum(direction.of(run)) != 0; }))
      all.push_back(direction);
  };
  add("from disk", "disk", true, false);
  add("to disk", "disk", false, true);
  add("to devices", "devices", true, false);
  add("from devices", "devices", false, true);
  add("between devices", "between devices", true, true);
  return all;
}

std::string bytes_cell(Bytes bytes) { return bytes == 0 ? "-" : moved_bytes(bytes); }

}  // namespace fairlead::report::html
