// Whether each place that a graph names is one that its collection has: of inputs, outputs and placements.
#pragma once
#include "front/unrolled/edges.hpp"

namespace fairlead::unrolled {

/// Collections of which Graph::extents says nothing have all places.
void tell_outside(const Graph& graph, const Ports& ports, const Edges& edges, Findings& findings);

}  // namespace fairlead::unrolled
