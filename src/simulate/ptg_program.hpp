// A program for the simulator in the order of an algorithm's parameterized graph: its tasks and data are those of the
// workload, which is the algorithm as a flow; their order is that in which the graph unfolds.
#pragma once
#include <string_view>

#include "front/unrolled/task_graph.hpp"
#include "simulate/program.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {

/// True if the workload has a parameterized graph: "cholesky", "lu", "gemm".
bool is_in_ptg(std::string_view workload) noexcept;

/// That graph, unrolled. Throws ConfigError if there is none, or if it has more than a million tasks.
unrolled::TaskGraph graph_of(std::string_view workload, const WorkloadSize& size);
/// The flow's program in the order in which the graph unfolds. Throws Error if the tasks differ.
Program in_order_of(const unrolled::TaskGraph& graph, const Program& flow);

}  // namespace fairlead::simulate
