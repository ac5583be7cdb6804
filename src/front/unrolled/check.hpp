// Checks an unrolled graph: both ends of every edge agree, every input is given once, there are no cycles, and uses
// of memory are ordered, so that the result is unique.
#pragma once
#include "front/unrolled/findings.hpp"
#include "front/unrolled/partial_order.hpp"
#include "front/unrolled/task_graph.hpp"

namespace fairlead::unrolled {

/// The result of check().
struct CheckResult {
  Findings findings;
  std::size_t edges = 0;
  std::size_t overwriting = 0;    ///< precedences that exist because a value is overwritten
  std::vector<Precedence> steps;  ///< all precedences; empty if a cycle was found
};

/// Checks the graph. Keeps the texts of at most `most_of_a_kind` findings of each kind.
CheckResult check(const TaskGraph& graph, std::size_t most_of_a_kind = 5);

/// The precedences from flows alone, for drawing and counting: each pair of tasks once per pair of their flows.
std::vector<std::pair<TaskId, TaskId>> steps(const TaskGraph& graph);

}  // namespace fairlead::unrolled
