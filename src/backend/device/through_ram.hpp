// Two devices that might copy to each other and do not: the way between them, which crosses RAM, says why in its name.
#pragma once
#include <fairlead/ids.hpp>

#include <string>
#include <vector>

#include "machine/topology.hpp"

namespace fairlead::backend {

void say_why_through_ram(Topology& topology, NodeId first, NodeId second, const std::string& why);
/// "cuda 0 and cuda 1 copy through RAM: ...", for people: of all of them of whom it was said.
std::vector<std::string> why_through_ram(const Topology& topology);

}  // namespace fairlead::backend
