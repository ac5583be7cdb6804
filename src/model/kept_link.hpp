// What was measured of the link between two memory nodes of this machine, and how a topology uses it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "machine/topology.hpp"

namespace fairlead::model {

struct KeptLink {
  std::string first, second;  ///< names of the nodes, as in the topology
  std::string place;          ///< which of several such nodes: "ext4 at /scratch"; empty if there is only one
  std::uint64_t to_second = 0, to_first = 0;  ///< bytes per second, each direction alone
  std::uint64_t both = 0;                     ///< bytes per second of both directions at once, together
  std::int64_t latency_ns = 0;                ///< of the smallest copy
  std::int32_t day = 0;                       ///< of the measurement, since 1970

  friend bool operator==(const KeptLink&, const KeptLink&) = default;
};

using KeptLinks = std::vector<KeptLink>;
/// Where the nodes of a link are, as in KeptLink::place.
using PlaceOfLink = std::function<std::string(const Topology&, const LinkSpec&)>;

/// The measurement of this link, in either order of its nodes; null if there is none.
const KeptLink* find_link(const KeptLinks& links, const Topology& topology, const LinkSpec& link,
                          const std::string& place);

/// Gives each link that was measured its latency and the bandwidth towards the cache, where tasks work: what
/// policies ask for is how long bringing data takes. Others stay as they are.
void use_measured(Topology& topology, const KeptLinks& links, const PlaceOfLink& place_of);

}  // namespace fairlead::model
