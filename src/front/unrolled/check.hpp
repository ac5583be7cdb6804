// Whether a graph that is written out can run, and gives one result: both ends of every edge agree, every input is given
// once, there is an order, and memory is not used in none.
#pragma once
#include "front/unrolled/findings.hpp"
#include "front/unrolled/graph.hpp"
#include "front/unrolled/order.hpp"

namespace fairlead::unrolled {

struct Checked {
  Findings findings;
  std::size_t edges = 0;
  std::size_t overwriting = 0;    ///< steps that are there since a value is overwritten
  std::vector<Precedence> steps;  ///< all of them, as far as no cycle was found
};

Checked check(const Graph& graph, std::size_t most_of_a_kind = 5);

/// The steps of flows alone, for those who draw or count: each pair of tasks once for each pair of their flows.
std::vector<std::pair<TaskId, TaskId>> steps(const Graph& graph);

}  // namespace fairlead::unrolled
