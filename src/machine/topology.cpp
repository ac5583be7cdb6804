// Looking up links, and the topology that most runs have.
#include "machine/topology.hpp"

namespace fairlead {

LinkId Topology::link_between(NodeId a, NodeId b) const {
  for (std::size_t i = 0; i < links.size(); ++i)
    if ((links[i].first == a && links[i].second == b) || (links[i].first == b && links[i].second == a))
      return static_cast<LinkId>(i);
  throw ConfigError("no link joins the memory nodes \"" + nodes.at(index(a)).name + "\" and \"" +
                    nodes.at(index(b)).name + "\"");
}

Topology out_of_core_topology(std::size_t workers, Bytes capacity, double disk_bytes_per_second,
                              Duration disk_latency) {
  using Nodes = OutOfCoreNodes;
  Topology topology;
  topology.nodes = {
      {.name = "user memory", .role = NodeRole::home},
      {.name = "disk", .role = NodeRole::home},
      {.name = "RAM", .role = NodeRole::cache, .capacity = capacity, .reaches = {Nodes::user_memory}},
  };
  topology.workers.assign(workers, {WorkerKind::cpu, Nodes::ram});
  topology.links = {
      {.name = "memory", .first = Nodes::user_memory, .second = Nodes::ram, .bytes_per_second = 10e9},
      {.name = "disk",
       .first = Nodes::disk,
       .second = Nodes::ram,
       .bytes_per_second = disk_bytes_per_second,
       .latency = disk_latency},
  };
  return topology;
}

}  // namespace fairlead
