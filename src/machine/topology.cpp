// See topology.hpp.
#include "machine/topology.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead {

NodeId Topology::unique_node(MemoryKind memory) const {
  const auto found = std::ranges::find(nodes, memory, &NodeSpec::memory);
  if (found != nodes.end()) return static_cast<NodeId>(found - nodes.begin());
  throw ConfigError(memory == MemoryKind::user    ? "this machine has no node for the program's own memory"
                    : memory == MemoryKind::store ? "this machine has no disk"
                                                  : "this machine has no host memory");
}

std::uint32_t domain_distance(const WorkerSpec& a, const WorkerSpec& b) noexcept {
  const auto [in_a, in_b] = std::ranges::mismatch(a.domains, b.domains);
  return static_cast<std::uint32_t>(std::max(a.domains.end() - in_a, b.domains.end() - in_b));
}

std::vector<NodeId> Topology::devices() const {
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].memory == MemoryKind::device) found.push_back(static_cast<NodeId>(i));
  return found;
}

std::size_t Topology::workers_on(NodeId node) const {
  return static_cast<std::size_t>(std::ranges::count(workers, node, &WorkerSpec::node));
}

Bytes Topology::smallest_device() const {
  Bytes smallest = ~Bytes{0};
  for (const NodeId device : devices()) smallest = std::min(smallest, nodes[index(device)].capacity);
  return smallest;
}

LinkId Topology::link_between(NodeId a, NodeId b) const {
  for (std::size_t i = 0; i < links.size(); ++i)
    if (links[i].is_generator) {
      continue;
    } else if ((links[i].first == a && links[i].second == b) ||
               (links[i].first == b && links[i].second == a)) {
      return static_cast<LinkId>(i);
    }
  throw ConfigError("no link connects the memory nodes \"" + nodes.at(index(a)).name + "\" and \"" +
                    nodes.at(index(b)).name + "\"");
}

std::vector<RouteStep> Topology::route_of(LinkId whole, NodeId from, NodeId to) const {
  const LinkSpec& link = links[index(whole)];
  std::vector<LinkId> wires = link.physical_links;
  if (wires.empty()) wires.push_back(whole);
  if (from != link.first) std::ranges::reverse(wires);
  std::vector<RouteStep> legs;
  for (const LinkId wire : wires) {
    const NodeId end = wire == wires.back() ? to : link.through;
    legs.push_back({wire, links[index(wire)].second == end});
  }
  return legs;
}

Duration Topology::scatter_time(Bytes bytes, NodeId from, std::span<const NodeId> to) const {
  const double part = static_cast<double>(bytes) / static_cast<double>(std::max<std::size_t>(1, to.size()));
  std::vector<double> wires(links.size()), through(2 * buses.size());  // seconds
  for (const NodeId node : to) {
    if (node == from) continue;
    for (const RouteStep& leg : route_between(from, node)) {
      const LinkSpec& wire = links[index(leg.link)];
      wires[index(leg.link)] += part / wire.bytes_per_second.of(leg.outward);
      for (const BusUse& use : wire.buses) {
        const BusSpec& bus = buses[use.bus];
        const bool away = leg.outward != use.reversed;
        through[2 * use.bus + (bus.duplex && !away ? 1 : 0)] += part / bus.bytes_per_second.of(away);
      }
    }
  }
  double longest = 0;
  for (const double seconds : wires) longest = std::max(longest, seconds);
  for (const double seconds : through) longest = std::max(longest, seconds);
  return Duration(static_cast<std::int64_t>(longest * 1e9));
}

void Topology::join(NodeId first, NodeId second, std::vector<LinkId> legs, NodeId through) {
  links.push_back({.name = nodes[index(first)].name + " - " + nodes[index(second)].name,
                   .first = first,
                   .second = second,
                   .physical_links = std::move(legs),
                   .through = through});
  derive_route(static_cast<LinkId>(links.size() - 1));
}

void Topology::update_routes() {
  for (std::size_t i = 0; i < links.size(); ++i)
    if (!links[i].physical_links.empty()) derive_route(static_cast<LinkId>(i));
}

/// A route has the bandwidth of its slowest physical link in each direction and the sum of all latencies; it is duplex
/// if all of them are.
void Topology::derive_route(LinkId id) {
  LinkSpec& link = links[index(id)];
  link.bytes_per_second = 1e300;
  link.latency = {};
  link.duplex = true;
  link.concurrent_copies = ~0u;
  for (const RouteStep& leg : route_of(id, link.first, link.second)) {
    const LinkSpec& wire = links[index(leg.link)];
    link.bytes_per_second = in_series(link.bytes_per_second,
                                      leg.outward ? wire.bytes_per_second : wire.bytes_per_second.reversed());
    link.latency += wire.latency;
    link.duplex = link.duplex && wire.duplex;
    link.concurrent_copies = std::min(link.concurrent_copies, wire.concurrent_copies);
  }
}

NodeId add_device(Topology& topology, const DeviceSpec& device) {
  const NodeId user_memory = topology.user_memory(), store = topology.store(), host = topology.host();
  const std::vector<NodeId> before = topology.devices();
  const auto node = static_cast<NodeId>(topology.nodes.size());
  topology.nodes.push_back({.name = device.name,
                            .role = NodeRole::cache,
                            .capacity = device.capacity,
                            .memory = MemoryKind::device});
  topology.workers.insert(topology.workers.end(), device.workers,
                          WorkerSpec{.kind = device.kind,
                                     .node = node,
                                     .processor = device.processor,
                                     .host_cores_per_task = device.on_cores});
  const auto wire = static_cast<LinkId>(topology.links.size());
  topology.links.push_back({.name = device.name,
                            .first = host,
                            .second = node,
                            .bytes_per_second = device.bytes_per_second,
                            .duplex = device.duplex,
                            .latency = device.latency});
  topology.join(user_memory, node, {wire});
  topology.join(store, node, {topology.link_between(store, host), wire}, host);
  for (const NodeId other : before)
    topology.join(other, node, {topology.link_between(host, other), wire}, host);
  return node;
}

void join_peers(Topology& topology, NodeId a, NodeId b, Bandwidth bytes_per_second, Duration latency,
                bool duplex) {
  LinkSpec& link = topology.links[index(topology.link_between(a, b))];
  link.bytes_per_second = bytes_per_second;
  link.duplex = duplex;
  link.latency = latency;
  link.physical_links.clear();
  link.through = no_id<NodeId>;
}

void add_generator(Topology& topology, double bytes_per_second) {
  const NodeId store = topology.store(), host = topology.host();
  const std::size_t cores = topology.workers_on(host);
  const auto computed = static_cast<LinkId>(topology.links.size());
  // At most one computation per core: those not started wait in the engine.
  topology.links.push_back({.name = "generator",
                            .first = store,
                            .second = host,
                            .bytes_per_second = bytes_per_second,
                            .concurrent_copies = static_cast<unsigned>(std::max<std::size_t>(cores, 1)),
                            .is_generator = true});
  for (const NodeId device : topology.devices()) {
    topology.join(store, device, {computed, topology.link_between(host, device)}, host);
    topology.links.back().is_generator = true;
  }
}

Topology out_of_core_topology(std::size_t workers, Bytes capacity, double disk_bytes_per_second,
                              Duration disk_latency) {
  constexpr NodeId user_memory{0}, disk{1}, ram{2};
  Topology topology;
  topology.nodes = {
      {.name = "user memory", .role = NodeRole::home, .memory = MemoryKind::user},
      {.name = "disk", .role = NodeRole::home, .memory = MemoryKind::store},
      {.name = "RAM",
       .role = NodeRole::cache,
       .capacity = capacity,
       .directly_accessible_homes = {user_memory},
       .memory = MemoryKind::host},
  };
  topology.workers.assign(workers, {WorkerKind::cpu, ram});
  topology.links = {
      {.name = "memory", .first = user_memory, .second = ram, .bytes_per_second = 10e9},
      {.name = "disk",
       .first = disk,
       .second = ram,
       .bytes_per_second = disk_bytes_per_second,
       .latency = disk_latency},
  };
  return topology;
}

}  // namespace fairlead
