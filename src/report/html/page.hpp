// A run as one page for a browser: a chart of workers, links and memory over time to zoom into, and the
// report's tables. The page is complete in itself: it asks nobody for anything.
#pragma once
#include <string>

#include "report/comparison.hpp"
#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::report {

/// Without records (an empty snapshot) there is no chart. A few MB at most: of more tasks than
/// `most_shown_apart`, the short ones are drawn together, and the page says so.
std::string html_page(const RunReport& report, const trace::Snapshot& recorded);

/// Of simulated runs, at least one: each beside the others and what bounds them, and the order of their
/// tasks. Of a single one, all that the page of a real run shows, too.
std::string comparison_page(const Comparison& comparison, const trace::Snapshot& recorded);

inline constexpr std::size_t most_shown_apart = 120'000;

}  // namespace fairlead::report
