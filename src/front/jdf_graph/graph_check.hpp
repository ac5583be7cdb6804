// The check of a graph for given sizes before it runs.
#pragma once
#include <fairlead/cyclic_map.hpp>

#include <optional>
#include <string>

#include "front/jdf_graph/lower.hpp"

namespace fairlead::jdf {

struct GraphCheck {
  std::optional<KnownOutputs>
      known{};           ///< none: the graph is too large to be checked as a whole, or has errors
  std::string errors{};  ///< in sentences; empty: none
};

/// Unrolls graphs of up to 100,000 tasks, in less than a second, and checks every edge. The settings of `program` must be
/// complete. `grid`: the ranks over which tiles are distributed; null: a single rank. Throws as require_initial_inputs() and
/// known_outputs().
GraphCheck check_graph(const RunnableJdf& program, const CyclicMap* grid);

}  // namespace fairlead::jdf
