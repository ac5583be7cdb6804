// The parts of a report on several ranks.
#pragma once
#include <fairlead/runtime.hpp>

#include "fairlead/problem/dense_report.hpp"
#include "fairlead/problem/front.hpp"
#include "fairlead/ranks/grid_rank.hpp"
#include "report/run_report.hpp"

namespace fairlead::app {

/// Combines the counts of all ranks between two moments, and report.seconds, of which the maximum is kept.
/// All ranks call it last, so that all notice if a rank failed before; with one rank the report is unchanged.
/// `reserved`: bytes of memory in addition to the tiles. `recorded`: by this rank.
void combine_ranks(report::RunReport& report, Runtime& runtime, const GridRank& place,
                   const RunCounters& before, const RunCounters& after, Bytes reserved,
                   const trace::Snapshot& recorded);

/// As --json and pages call it: "flow"; over several ranks graphs unless the settings say otherwise.
Front front_at(const Config& config, const GridRank& place);
const char* name_of(Front front) noexcept;

}  // namespace fairlead::app
