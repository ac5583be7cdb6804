// A parameterized graph, written out task by task, for those who look at it as a whole.
#pragma once
#include "front/ptg/class_table.hpp"
#include "front/unrolled/graph.hpp"

namespace fairlead::ptg {

/// Every task, with what it says itself of its inputs and outputs. Throws UsageError if there are more than
/// `most`.
unrolled::Graph written_out(const ClassTable& table, std::uint64_t most);

}  // namespace fairlead::ptg
