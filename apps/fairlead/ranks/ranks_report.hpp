// The parts of a report on several ranks.
#pragma once
#include <fairlead/runtime.hpp>

#include <string_view>

#include "fairlead/problem/dense_report.hpp"
#include "fairlead/problem/front.hpp"
#include "fairlead/ranks/command_ranks.hpp"
#include "report/run_report.hpp"
#include "solver/grid_rank.hpp"

namespace fairlead::app {

using solver::GridRank;

/// Collective. Sums the counts of all ranks between two moments, and takes the maximum of report.seconds.
/// Call it last, so that all ranks detect an earlier failure of a rank. With one rank the report is
/// unchanged. `reserved`: bytes of memory in addition to the tiles. `recorded`: the trace of this rank.
void combine_ranks(report::RunReport& report, Runtime& runtime, const GridRank& place,
                   const RunCounters& before, const RunCounters& after, Bytes reserved,
                   const trace::Snapshot& recorded);

/// The front end that the report names. The default is a flow; with several ranks, graphs.
Front front_at(const Config& config, const GridRank& place, const solver::DenseOperation& operation);
/// Prints a warning, on the first rank, if the operation was given by a former name.
void warn_of_former_name(const CommandRanks& ranks, std::string_view operation);
const char* name_of(Front front) noexcept;

}  // namespace fairlead::app
