// What a report says of several ranks.
#pragma once
#include <fairlead/runtime.hpp>

#include "fairlead/dense_report.hpp"
#include "fairlead/front.hpp"
#include "fairlead/place.hpp"
#include "report/run_report.hpp"

namespace fairlead::app {

/// Puts together what each rank has counted between two moments, and its own report.seconds: that becomes the longest. All ranks
/// call it, last, and so all hear if one of them could not come so far; who is alone has it as it is. `reserved`: of
/// memory, beside the tiles. `recorded`: by this rank.
void combine_ranks(report::RunReport& report, Runtime& runtime, const Place& place, const Counts& before,
                   const Counts& after, Bytes reserved, const trace::Snapshot& recorded);

/// As --json and pages call it: "flow"; over several ranks graphs unless the settings say otherwise.
Front front_at(const Config& config, const Place& place);
const char* name_of(Front front) noexcept;

}  // namespace fairlead::app
