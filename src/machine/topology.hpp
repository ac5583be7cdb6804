// The machine as the engine models it: memory nodes, workers, and links between nodes. Made from the real machine, from
// a machine file, or by a test.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/ids.hpp>

#include <span>
#include <string>
#include <vector>

#include <fairlead/worker_kind.hpp>
#include "base/time.hpp"
#include "machine/bandwidth.hpp"

namespace fairlead {

/// The role of a memory node.
enum class NodeRole : std::uint8_t {
  // holds data permanently: user memory, spill files, generators; has space for all its data, without eviction
  home,
  cache,  // holds a limited number of replicas, which tasks access: the pool in RAM, a device's memory
};

/// The kind of memory of a node. The engine uses only the role.
enum class MemoryKind : std::uint8_t {
  other,
  user,    // the program's own memory; a home
  store,   // the disk for data that do not fit in memory; a home
  host,    // the pool in RAM, used by the cores; a cache
  device,  // the memory of an accelerator; a cache
};

struct NodeSpec {
  std::string name;
  NodeRole role = NodeRole::cache;
  Bytes capacity = 0;  ///< for a cache: the maximum of all reservations, in bytes
  std::vector<NodeId>
      directly_accessible_homes{};  ///< for a cache: the homes with data that its workers access in place
  MemoryKind memory = MemoryKind::other;
};

struct WorkerSpec {
  WorkerKind kind = WorkerKind::cpu;
  NodeId node{};  ///< the cache where its tasks reserve memory
  /// The model of the processor, if durations differ between models: they are recorded for each.
  std::string processor{};
  /// Ids of the domains that it shares with some workers of its node but not with all, outermost first: package, NUMA
  /// node, caches.
  std::vector<unsigned> domains{};
  /// For a device on host cores, as OpenCL has: the number of cores that a task uses. Otherwise 0.
  unsigned host_cores_per_task = 0;
  /// The units of a shared processor that one of its tasks uses when it runs alone.
  unsigned cores_used() const noexcept { return host_cores_per_task > 0 ? host_cores_per_task : 1; }
};

/// The number of domain levels that two workers of one memory node do not share.
std::uint32_t domain_distance(const WorkerSpec& a, const WorkerSpec& b) noexcept;

/// A bus that several physical links share, such as the one of all cards.
struct BusSpec {
  std::string name;
  Bandwidth bytes_per_second = 1e9;
  bool duplex = false;  ///< as LinkSpec::duplex
};

/// The use of a bus by a physical link.
struct BusUse {
  std::size_t bus = 0;  ///< index in Topology::buses
  /// The link's direction away is the bus's direction back: for ports, which have directions of their own.
  bool reversed = false;
};

/// A link between two nodes: a physical link, or a route over other links (`legs`). The direction away is from `first`
/// to `second`: homes come first, then RAM, then devices.
struct LinkSpec {
  std::string name;
  NodeId first{}, second{};
  Bandwidth bytes_per_second = 1e9;  ///< of copies that have the link to themselves
  /// Copies in opposite directions neither slow each other nor wait for each other.
  bool duplex = false;
  Duration latency{};
  /// The maximum number of copies in flight, for each direction if duplex. Further ones stay in the engine, which can
  /// cancel them.
  unsigned concurrent_copies = 8;
  /// Empty for a physical link. Otherwise the physical links of a route, from `first` to `second`: one that other nodes
  /// use too, or two that meet in the cache `through`.
  std::vector<LinkId> physical_links{};
  NodeId through = no_id<NodeId>;
  /// The buses of a physical link. For simulations only: on real machines the hardware shares them.
  std::vector<BusUse> buses{};
  /// Only for data that have not been written yet: the values are computed by the cores instead of transferred from
  /// `first`.
  bool is_generator = false;
};

/// A physical link, and the direction in which a copy crosses it.
struct RouteStep {
  LinkId link{};
  bool outward = true;  ///< from the link's first node to its second
};

/// Workers that share a processor: the streams of an accelerator, or cores and a device on these cores. Concurrent
/// tasks share it fairly. Their total throughput is `together` times that of a single task, and none is faster than
/// alone. For simulations only.
struct SharedProcessors {
  std::vector<std::size_t>
      processor_of_worker;  ///< the processor of each worker; empty: each worker has its own
  std::vector<double> concurrent_throughput;  ///< by processor
};

struct Topology {
  std::vector<NodeSpec> nodes;
  std::vector<WorkerSpec> workers;
  std::vector<LinkSpec> links;
  std::vector<BusSpec> buses{};
  SharedProcessors shared{};

  bool has_kind(NodeId node, MemoryKind memory) const { return nodes[index(node)].memory == memory; }
  /// The only node of this kind. Throws ConfigError if there is none.
  NodeId user_memory() const { return unique_node(MemoryKind::user); }
  NodeId store() const { return unique_node(MemoryKind::store); }
  NodeId host() const { return unique_node(MemoryKind::host); }
  /// The memories of accelerators, in the order of their numbers.
  std::vector<NodeId> devices() const;
  /// The number of workers of a node: cores, or streams of an accelerator.
  std::size_t workers_on(NodeId node) const;
  /// The capacity of the smallest device memory; the largest number if there is no device.
  Bytes smallest_device() const;

  /// The link that joins two nodes, except links that compute. Throws ConfigError if there is none.
  LinkId link_between(NodeId a, NodeId b) const;
  /// The physical links that a copy over the link crosses, in order.
  std::vector<RouteStep> route_of(LinkId whole, NodeId from, NodeId to) const;
  /// The same for the link that joins these nodes.
  std::vector<RouteStep> route_between(NodeId from, NodeId to) const {
    return route_of(link_between(from, to), from, to);
  }
  /// The time to send `bytes` from one node to the others, in equal parts and at the same time, on an idle machine.
  /// Shared physical links and buses carry the sum of the parts.
  Duration scatter_time(Bytes bytes, NodeId from, std::span<const NodeId> to) const;
  /// Adds a route over existing physical links; its bandwidth is that of the slowest one.
  void join(NodeId first, NodeId second, std::vector<LinkId> legs, NodeId through = no_id<NodeId>);
  /// Updates all routes after the physical links have changed.
  void update_routes();

 private:
  NodeId unique_node(MemoryKind memory) const;
  void derive_route(LinkId id);
};

/// An accelerator with its own memory and a physical link to RAM.
struct DeviceSpec {
  std::string name;
  WorkerKind kind = WorkerKind::emulated;
  Bytes capacity = 0;
  Bandwidth bytes_per_second = 10e9;  ///< of its link to RAM
  bool duplex = true;
  Duration latency{10'000};
  unsigned workers = 1;
  std::string processor{};  ///< as WorkerSpec::processor
  unsigned on_cores = 0;    ///< as WorkerSpec::host_cores_per_task
};
/// Adds a device to a topology with user memory, a disk and RAM; returns its node. Copies from and to user memory use
/// its link; those from and to the disk and other devices go through RAM.
NodeId add_device(Topology& topology, const DeviceSpec& device);
/// Replaces the route between two devices through RAM by a physical link. Its direction away is from the device that
/// was added first.
void join_peers(Topology& topology, NodeId a, NodeId b, Bandwidth bytes_per_second, Duration latency,
                bool duplex = true);

/// Allows data with a home on disk to be computed at first use: adds a link that computes, from the disk to RAM, and
/// routes from there to each device. Call it last. `bytes_per_second`: of all cores together.
void add_generator(Topology& topology, double bytes_per_second);

/// A topology with user memory, a disk and one pool in RAM.
Topology out_of_core_topology(std::size_t workers, Bytes capacity, double disk_bytes_per_second,
                              Duration disk_latency);

}  // namespace fairlead
