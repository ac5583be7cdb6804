// Records why two devices copy through RAM although their backend has direct copies: the name of the link between
// them contains the reason.
#pragma once
#include <fairlead/ids.hpp>

#include <string>
#include <vector>

#include "machine/topology.hpp"

namespace fairlead::backend {

void set_no_peer_reason(Topology& topology, NodeId first, NodeId second, const std::string& why);
/// All recorded reasons, for people: "cuda 0 and cuda 1 copy through RAM: ...".
std::vector<std::string> no_peer_reasons(const Topology& topology);

}  // namespace fairlead::backend
