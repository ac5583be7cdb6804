// Facts about outputs, from an unrolled graph: whether all of them go to existing tasks, and which outputs to memory go
// to another datum than the one that contains the value.
#pragma once
#include <vector>

#include "front/jdf_graph/lower.hpp"
#include "front/unrolled/partial_order.hpp"
#include "front/unrolled/task_graph.hpp"

namespace fairlead::jdf {

/// Throws InputError if one output does both, for different tasks.
KnownOutputs known_outputs(const unrolled::TaskGraph& graph);

/// Inputs from memory mean the value at the start of the graph. Throws InputError for a task that takes a datum after a
/// preceding task has stored there. `steps`: the precedences that check() found.
void require_initial_inputs(const unrolled::TaskGraph& graph, const std::vector<unrolled::Precedence>& steps);

}  // namespace fairlead::jdf
