// From a place that a flow names in a collection to the formulas that find it.
#pragma once
#include <vector>

#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

/// `collection`: its number. `bounds`: of the indices of the class, whose places come first. Throws UsageError for a place that
/// the collection cannot have, or whose data are not the flow's.
MemoryPlace memory_place(const ClassDefinition& of, const FlowDefinition& flow, const Place& place,
                         std::uint32_t collection, const Places& places, const std::vector<Interval>& bounds);

}  // namespace fairlead::ptg
