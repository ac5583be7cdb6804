// Looking up links, and the topology that most runs have.
#include "machine/topology.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead {

LinkId Topology::link_between(NodeId a, NodeId b) const {
  for (std::size_t i = 0; i < links.size(); ++i)
    if (links[i].computes) {
      continue;
    } else if ((links[i].first == a && links[i].second == b) ||
               (links[i].first == b && links[i].second == a)) {
      return static_cast<LinkId>(i);
    }
  throw ConfigError("no link joins the memory nodes \"" + nodes.at(index(a)).name + "\" and \"" +
                    nodes.at(index(b)).name + "\"");
}

std::vector<Leg> Topology::legs_of(LinkId whole, NodeId from, NodeId to) const {
  const LinkSpec& link = links[index(whole)];
  std::vector<LinkId> wires = link.legs;
  if (wires.empty()) wires.push_back(whole);
  if (from != link.first) std::ranges::reverse(wires);
  std::vector<Leg> legs;
  for (const LinkId wire : wires) {
    const NodeId end = wire == wires.back() ? to : link.through;
    legs.push_back({wire, links[index(wire)].second == end});
  }
  return legs;
}

Duration Topology::transfer_time(LinkId id, Bytes bytes) const {
  const LinkSpec& link = links[index(id)];
  // The product is exact enough in a double, and rounded the same everywhere. What takes years takes three.
  return link.latency + Duration(static_cast<std::int64_t>(
                            std::min(static_cast<double>(bytes) * 1e9 / link.bytes_per_second, 1e17)));
}

void Topology::join(NodeId first, NodeId second, std::vector<LinkId> legs, NodeId through) {
  LinkSpec link{.name = nodes[index(first)].name + " - " + nodes[index(second)].name,
                .first = first,
                .second = second,
                .bytes_per_second = 1e300};
  for (const LinkId leg : legs) {
    const LinkSpec& wire = links[index(leg)];
    link.bytes_per_second = std::min(link.bytes_per_second, wire.bytes_per_second);
    link.latency += wire.latency;
    link.concurrent_copies = std::min(link.concurrent_copies, wire.concurrent_copies);
  }
  link.legs = std::move(legs);
  link.through = through;
  links.push_back(std::move(link));
}

NodeId add_device(Topology& topology, const DeviceSpec& device) {
  using Nodes = OutOfCoreNodes;
  const auto node = static_cast<NodeId>(topology.nodes.size());
  topology.nodes.push_back({.name = device.name, .role = NodeRole::cache, .capacity = device.capacity});
  const std::string processor =
      device.kind == WorkerKind::emulated ? fmt::format("{:.3g} of a core", device.speed) : "";
  topology.workers.insert(topology.workers.end(), device.workers, WorkerSpec{device.kind, node, processor});
  const auto wire = static_cast<LinkId>(topology.links.size());
  topology.links.push_back({.name = device.name,
                            .first = Nodes::ram,
                            .second = node,
                            .bytes_per_second = device.bytes_per_second,
                            .latency = device.latency});
  topology.join(Nodes::user_memory, node, {wire});
  topology.join(Nodes::disk, node, {topology.link_between(Nodes::disk, Nodes::ram), wire}, Nodes::ram);
  for (std::size_t other = index(Nodes::ram) + 1; other < index(node); ++other) {
    const auto device_before = static_cast<NodeId>(other);
    topology.join(device_before, node, {topology.link_between(Nodes::ram, device_before), wire}, Nodes::ram);
  }
  return node;
}

void join_peers(Topology& topology, NodeId a, NodeId b, double bytes_per_second, Duration latency) {
  LinkSpec& link = topology.links[index(topology.link_between(a, b))];
  link.bytes_per_second = bytes_per_second;
  link.latency = latency;
  link.legs.clear();
  link.through = no_id<NodeId>;
}

void add_devices(Topology& topology, const std::vector<DeviceSpec>& devices) {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    nodes.push_back(add_device(topology, devices[i]));
    for (std::size_t other = 0; other < i; ++other) {
      const double peers = std::min(devices[i].peer_bytes_per_second, devices[other].peer_bytes_per_second);
      if (peers > 0)
        join_peers(topology, nodes[other], nodes[i], peers,
                   std::max(devices[i].latency, devices[other].latency));
    }
  }
}

void add_generator(Topology& topology, double bytes_per_second) {
  using Nodes = OutOfCoreNodes;
  const auto cores = std::ranges::count(topology.workers, Nodes::ram, &WorkerSpec::node);
  const auto computed = static_cast<LinkId>(topology.links.size());
  // Each core makes one at a time: what is not begun waits in the engine.
  topology.links.push_back({.name = "generator",
                            .first = Nodes::disk,
                            .second = Nodes::ram,
                            .bytes_per_second = bytes_per_second,
                            .concurrent_copies = static_cast<unsigned>(std::max<std::ptrdiff_t>(cores, 1)),
                            .computes = true});
  for (std::size_t device = index(Nodes::ram) + 1; device < topology.nodes.size(); ++device) {
    const auto node = static_cast<NodeId>(device);
    topology.join(Nodes::disk, node, {computed, topology.link_between(Nodes::ram, node)}, Nodes::ram);
    topology.links.back().computes = true;
  }
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
