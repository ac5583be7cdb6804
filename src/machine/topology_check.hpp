// Validates a topology that was read from a file. The engine does not check its topology.
#pragma once
#include <string>

#include "machine/topology.hpp"

namespace fairlead {

/// The first error: "it has no worker"; empty if there is none. Requires that all ids in the topology exist.
std::string validate(const Topology& topology);

}  // namespace fairlead
