// The parts of a report on several ranks.
#pragma once
#include <fairlead/runtime.hpp>

#include "report/run_report.hpp"
#include "solver/grid_rank.hpp"
#include "solver/report/dense_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::solver {

/// Collective. Sums the counts of all ranks between two moments, and takes the maximum of report.seconds.
/// Call it last, so that all ranks detect an earlier failure of a rank. With one rank the report is
/// unchanged. `reserved`: bytes of memory in addition to the tiles. `recorded`: the trace of this rank.
void combine_ranks(report::RunReport& report, Runtime& runtime, const GridRank& place,
                   const RunCounters& before, const RunCounters& after, Bytes reserved,
                   const trace::Snapshot& recorded);

}  // namespace fairlead::solver
