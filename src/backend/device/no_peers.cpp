// Stores the reason in the name of the link.
#include "backend/device/no_peers.hpp"

#include <fmt/format.h>

#include <string_view>

namespace fairlead::backend {

namespace {
constexpr std::string_view says_why = " copy through RAM: ";
}

void set_no_peer_reason(Topology& topology, NodeId first, NodeId second, const std::string& why) {
  topology.links[index(topology.link_between(first, second))].name = fmt::format(
      "{} and {}{}{}", topology.nodes[index(first)].name, topology.nodes[index(second)].name, says_why, why);
}

std::vector<std::string> no_peer_reasons(const Topology& topology) {
  std::vector<std::string> all;
  for (const LinkSpec& link : topology.links)
    if (link.name.find(says_why) != std::string::npos) all.push_back(link.name);
  return all;
}

}  // namespace fairlead::backend
