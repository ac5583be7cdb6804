// What writing a graph out tells of its outputs: whether all of them go to tasks that there are, and which of those to
// memory leave a value in another datum than the one that it is in.
#pragma once
#include <vector>

#include "front/jdf_graph/lower.hpp"
#include "front/unrolled/graph.hpp"
#include "front/unrolled/order.hpp"

namespace fairlead::jdf {

/// Throws InputError for an output that does both for different tasks.
KnownOutputs known_outputs(const unrolled::Graph& graph);

/// Memory is what it was when a graph began: throws InputError for a task that takes from there what another one has left,
/// and comes after it. `steps`: as check() found them.
void require_first_values(const unrolled::Graph& graph, const std::vector<unrolled::Precedence>& steps);

}  // namespace fairlead::jdf
