// Values at both ends of their lives: NEW ones that are read before any task has written them, and results that no output takes
// anywhere.
#pragma once
#include "front/unrolled/edges.hpp"

namespace fairlead::unrolled {

void tell_never_written(const Graph& graph, const Ports& ports, const Edges& edges, Findings& findings);
/// NEW that goes nowhere is a task's workspace, and in order.
void tell_lost_results(const Graph& graph, const Ports& ports, const Edges& edges, Findings& findings);

}  // namespace fairlead::unrolled
