// Compiles a place in a collection, as named by a flow, to formulas.
#pragma once
#include <vector>

#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

/// `collection`: its number in the table. `bounds`: intervals of the class's indices, which have the first places.
/// Throws UsageError for a wrong number of indices or data of another type.
MemoryPlace memory_place(const ClassDefinition& of, const FlowDefinition& flow, const Place& place,
                         std::uint32_t collection, const Places& places, const std::vector<Interval>& bounds);

}  // namespace fairlead::ptg
