// The edges of an unrolled graph, matched: what producers state against what consumers state.
#pragma once
#include <cstdint>
#include <vector>

#include "front/unrolled/findings.hpp"
#include "front/unrolled/task_graph.hpp"

namespace fairlead::unrolled {

/// A flow of a task, numbered throughout the graph.
using Port = std::uint32_t;

/// The numbering of ports.
class Ports {
 public:
  explicit Ports(const TaskGraph& graph);
  Port of(TaskId task, std::uint16_t flow) const { return first_[task] + flow; }
  std::uint32_t size() const noexcept { return first_.back(); }
  TaskId task(Port port) const noexcept { return tasks_[port]; }
  std::uint16_t flow(Port port) const noexcept {
    return static_cast<std::uint16_t>(port - first_[tasks_[port]]);
  }

 private:
  std::vector<Port> first_;  // of each task, and one past the last
  std::vector<TaskId> tasks_;
};

/// From a producer's port to a consumer's.
struct Edge {
  Port from = 0, to = 0;
};

/// The input of each port, after the tasks are found.
struct Inputs {
  std::vector<std::uint32_t>
      given;               ///< by port: index in TaskGraph::inputs of the input that applies, or `none`
  std::vector<Port> from;  ///< by port: the producer, if the input comes from an existing task, or `none`
};

/// All edges, and the inputs.
struct Edges {
  std::vector<Edge> all;  ///< stated by at least one end
  Inputs inputs;
};

/// Finds the tasks at the other ends. Reports edges stated by one end only, inputs given never or twice, and ends at
/// tasks that do not exist.
Edges match_edges(const TaskGraph& graph, const Ports& ports, Findings& findings);

}  // namespace fairlead::unrolled
