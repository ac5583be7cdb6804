// Measurements of a link between two memory nodes of this machine, and their use in a topology.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "machine/topology.hpp"

namespace fairlead::model {

struct KeptLink {
  std::string first, second;  ///< names of the nodes, as in the topology
  /// distinguishes equal nodes, as "ext4 at /scratch"; empty if there is only one
  std::string place;
  std::uint64_t to_second = 0, to_first = 0;  ///< bytes per second, one direction at a time
  std::uint64_t both = 0;                     ///< bytes per second, sum of both directions at once
  std::int64_t latency_ns = 0;                ///< of the smallest copy
  std::int32_t day = 0;                       ///< day of the measurement, since 1970

  friend bool operator==(const KeptLink&, const KeptLink&) = default;
};

using KeptLinks = std::vector<KeptLink>;
/// Returns a link's KeptLink::place.
using PlaceOfLink = std::function<std::string(const Topology&, const LinkSpec&)>;

/// The measurement of this link, with its nodes in either order; null if none exists.
const KeptLink* find_link(const KeptLinks& links, const Topology& topology, const LinkSpec& link,
                          const std::string& place);

/// Sets the latency, and the bandwidth of each direction, of the links that were measured. Other links keep their
/// values.
void use_measured(Topology& topology, const KeptLinks& links, const PlaceOfLink& place_of);

}  // namespace fairlead::model
