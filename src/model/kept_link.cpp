// Finds measured links by the names of their nodes.
#include "model/kept_link.hpp"

namespace fairlead::model {

const KeptLink* find_link(const KeptLinks& links, const Topology& topology, const LinkSpec& link,
                          const std::string& place) {
  const std::string& first = topology.nodes[index(link.first)].name;
  const std::string& second = topology.nodes[index(link.second)].name;
  for (const KeptLink& kept : links) {
    if (kept.place != place) continue;
    if ((kept.first == first && kept.second == second) || (kept.first == second && kept.second == first))
      return &kept;
  }
  return nullptr;
}

void use_measured(Topology& topology, const KeptLinks& links, const PlaceOfLink& place_of) {
  for (LinkSpec& link : topology.links) {
    const KeptLink* kept = find_link(links, topology, link, place_of(topology, link));
    if (kept == nullptr) continue;
    const bool same_order = kept->second == topology.nodes[index(link.second)].name;
    link.bytes_per_second = {static_cast<double>(same_order ? kept->to_second : kept->to_first),
                             static_cast<double>(same_order ? kept->to_first : kept->to_second)};
    link.latency = Duration(kept->latency_ns);
  }
}

}  // namespace fairlead::model
