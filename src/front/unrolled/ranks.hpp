// Checks whether an unrolled graph can run on a grid of ranks, with all data in block-cyclic distribution: a task may
// take only data of its own rank from memory.
#pragma once
#include <fairlead/cyclic_map.hpp>

#include "front/unrolled/findings.hpp"
#include "front/unrolled/task_graph.hpp"

namespace fairlead::unrolled {

/// Reports data taken from another rank. TaskGraph::runs_at must be filled in.
void check_placement(const TaskGraph& graph, const CyclicMap& grid, Findings& findings);

}  // namespace fairlead::unrolled
