// An algorithm as its parameterized graph has it, as a program for the simulator: its tasks and data are those of the
// workload, which is the algorithm as a flow; their order is that in which the graph unfolds.
#pragma once
#include <string_view>

#include "front/unrolled/graph.hpp"
#include "simulate/program.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {

/// Whether there is a parameterized graph of the workload: "cholesky", "lu", "gemm".
bool is_in_ptg(std::string_view workload) noexcept;

/// That graph, written out. Throws ConfigError if there is none, or if it has more than a million tasks.
unrolled::Graph graph_of(std::string_view workload, const WorkloadSize& size);
/// The flow's program in the order in which the graph unfolds. Throws Error if they are not the same tasks.
Program in_order_of(const unrolled::Graph& graph, const Program& flow);

}  // namespace fairlead::simulate
