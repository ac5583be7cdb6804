// The value of each flow. A flow that writes makes a new value; one that only reads passes its value on. A task that
// changes a value waits for all its readers.
#pragma once
#include <cstdint>
#include <vector>

#include "front/unrolled/edges.hpp"
#include "front/unrolled/partial_order.hpp"

namespace fairlead::unrolled {

/// A value: the one made by a port, the initial contents of a place in memory, or none.
using ValueId = std::uint32_t;

/// A write to a place in memory by a port.
struct MemoryWrite {
  std::uint32_t place = 0;
  Port port = 0;
  std::uint32_t end = none;  ///< index in TaskGraph::outputs
};

/// The values of all ports.
struct Values {
  std::vector<ValueId> in;  ///< by port: the value that comes in, or `none`
  std::uint32_t ports = 0;  ///< values from this number on are contents of places
  std::vector<std::uint32_t>
      place_ends;  ///< by place: the input, or from TaskGraph::inputs.size() on the output, that names it
  std::vector<MemoryWrite> written;  ///< outputs to places, sorted by place

  bool is_of_memory(ValueId value) const noexcept { return value != none && value >= ports; }
  std::uint32_t place(ValueId value) const noexcept { return value - ports; }
};

/// Finds the values. Reports inputs from flows without a value.
Values find_values(const TaskGraph& graph, const Ports& ports, const Edges& edges, Findings& findings);

/// The precedences that exist because a value is overwritten. Reports values with two writers, and tasks that read
/// what they overwrite. Excludes values from memory: see memory_uses.hpp.
std::vector<Precedence> overwriting_steps(const TaskGraph& graph, const Ports& ports, const Edges& edges,
                                          const Values& values, Findings& findings);

}  // namespace fairlead::unrolled
