// The report of a run as an HTML page: a zoomable chart of workers, links and memory over time, and the report's
// tables. The page is self-contained and needs no network.
#pragma once
#include <string>

#include "report/comparison.hpp"
#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::report {

/// An empty snapshot yields a page without a chart. At most a few MB: with more tasks than `most_shown_apart`, short
/// ones are merged, and the page states that.
std::string html_page(const RunReport& report, const trace::Snapshot& recorded);

/// A page of simulated runs, at least one: a comparison with each other and with their bounds, and the order of their
/// tasks. A single run also has all that the page of a real run shows.
std::string comparison_page(const Comparison& comparison, const trace::Snapshot& recorded);

inline constexpr std::size_t most_shown_apart = 120'000;

}  // namespace fairlead::report
