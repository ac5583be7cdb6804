// A part of a node's machine, for one of several ranks on it.
#pragma once
#include <cstddef>

#include "machine/description.hpp"

namespace fairlead::simulate {

/// What one of so many ranks of a node has of it: equally many of its cores, its devices in their order and its interfaces,
/// and of what they share (its memory, and each bus by the devices that use it) a part. The parts are all as the first
/// one; they are nodes of the machine that is returned. Throws ConfigError if the node cannot be divided so.
machine::MachineDescription part_of_node(machine::MachineDescription machine, std::size_t ranks);

}  // namespace fairlead::simulate
