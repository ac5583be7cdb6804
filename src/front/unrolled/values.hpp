// Which value each flow has. A flow carries a value: one that is written is a new one, one that is only read is passed on
// as it is. Whoever writes a value waits for all who read it.
#pragma once
#include <cstdint>
#include <vector>

#include "front/unrolled/edges.hpp"
#include "front/unrolled/order.hpp"

namespace fairlead::unrolled {

/// A value: that which a port made, that which was in a place of memory, or none.
using ValueId = std::uint32_t;

/// A use of a place in memory by a port.
struct Use {
  std::uint32_t place = 0;
  Port port = 0;
  std::uint32_t end = none;  ///< in Graph::outputs, for those who write there
};

struct Values {
  std::vector<ValueId> in;  ///< by port: the value that comes in, or `none`
  std::uint32_t ports = 0;  ///< values from here on are those of places
  std::vector<std::uint32_t>
      place_ends;  ///< for each place an input or, from Graph::inputs.size() on, an output that names it
  std::vector<Use> written;  ///< places that outputs go to, sorted by place

  bool is_of_memory(ValueId value) const noexcept { return value != none && value >= ports; }
  std::uint32_t place(ValueId value) const noexcept { return value - ports; }
};

Values find_values(const Graph& graph, const Ports& ports, const Edges& edges, Findings& findings);

/// The steps that are there since a value is overwritten. Tells values with two writers and tasks that read what they
/// overwrite. Values from memory are left out: see memory_uses.hpp.
std::vector<Precedence> overwriting_steps(const Graph& graph, const Ports& ports, const Edges& edges,
                                          const Values& values, Findings& findings);

}  // namespace fairlead::unrolled
