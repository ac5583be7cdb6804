// The edges of a graph, matched: what producers say against what consumers say.
#pragma once
#include <cstdint>
#include <vector>

#include "front/unrolled/findings.hpp"
#include "front/unrolled/graph.hpp"

namespace fairlead::unrolled {

/// A flow of a task, numbered through the whole graph.
using Port = std::uint32_t;

class Ports {
 public:
  explicit Ports(const Graph& graph);
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

struct Edge {
  Port from = 0, to = 0;
};

/// What each input is, once it is known which tasks there are.
struct Inputs {
  std::vector<std::uint32_t>
      given;               ///< by port: the number in Graph::inputs of the first that is given, or `none`
  std::vector<Port> from;  ///< by port: the producer, for inputs from tasks that are there, or `none`
};

struct Edges {
  std::vector<Edge> all;  ///< known to at least one end
  Inputs inputs;
};

/// Finds the tasks at the other ends. Tells what is one-sided, given never or twice, or leads nowhere.
Edges match_edges(const Graph& graph, const Ports& ports, Findings& findings);

}  // namespace fairlead::unrolled
