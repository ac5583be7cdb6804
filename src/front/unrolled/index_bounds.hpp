// Checks that each datum that inputs, outputs and placements name exists in its collection.
#pragma once
#include "front/unrolled/edges.hpp"

namespace fairlead::unrolled {

/// Reports data outside TaskGraph::extents. Collections without extents have all data.
void check_bounds(const TaskGraph& graph, const Ports& ports, const Edges& edges, Findings& findings);

}  // namespace fairlead::unrolled
