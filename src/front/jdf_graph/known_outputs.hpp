// What writing a graph out tells of its outputs: whether all of them go to tasks that there are, and which of those to
// memory leave a value in another datum than the one that it is in.
#pragma once
#include "front/jdf_graph/lower.hpp"
#include "front/unrolled/graph.hpp"

namespace fairlead::jdf {

/// Throws InputError for an output that does both for different tasks.
KnownOutputs known_outputs(const unrolled::Graph& graph);

}  // namespace fairlead::jdf
