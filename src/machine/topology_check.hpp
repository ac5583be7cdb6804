// Whether a topology that was read from a file is one on which memory can work: the engine trusts what it is
// given.
#pragma once
#include <string>

#include "machine/topology.hpp"

namespace fairlead {

/// What is wrong with it: "it has no worker". Empty if nothing is. Its ids are those of nodes and links that
/// it has.
std::string flaw_of(const Topology& topology);

}  // namespace fairlead
