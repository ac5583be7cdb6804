// The part of a node that one of several ranks on it uses.
#pragma once
#include <cstddef>

#include "machine/description.hpp"

namespace fairlead::simulate {

/// The part of one of `ranks` ranks on a node: an equal number of its cores, devices (in order) and interfaces, and a
/// share of the memory and of each bus by the devices that use it. All parts equal the first one; the returned machine
/// has them as nodes. Throws ConfigError if the node cannot be divided.
machine::MachineDescription part_of_node(machine::MachineDescription machine, std::size_t ranks);

}  // namespace fairlead::simulate
