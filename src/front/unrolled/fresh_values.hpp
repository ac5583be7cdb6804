// Checks of values at both ends of their lives: NEW values that are read before any task has written them, and
// results without an output.
#pragma once
#include "front/unrolled/edges.hpp"

namespace fairlead::unrolled {

/// Reports NEW values that are read or stored before any task has written them.
void check_unwritten_values(const TaskGraph& graph, const Ports& ports, const Edges& edges,
                            Findings& findings);
/// Reports changed values without an output. A NEW value without one is a task's workspace, and correct.
void check_lost_results(const TaskGraph& graph, const Ports& ports, const Edges& edges, Findings& findings);

}  // namespace fairlead::unrolled
