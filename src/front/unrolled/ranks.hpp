// Whether a graph that is written out runs over a grid of ranks, over which all its data are dealt out in turn: a task takes
// from memory only what its rank has.
#pragma once
#include <fairlead/cyclic_map.hpp>

#include "front/unrolled/findings.hpp"
#include "front/unrolled/graph.hpp"

namespace fairlead::unrolled {

/// The graph knows where its tasks run.
void tell_other_ranks(const Graph& graph, const CyclicMap& grid, Findings& findings);

}  // namespace fairlead::unrolled
