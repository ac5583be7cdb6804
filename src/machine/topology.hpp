// The machine as the engine sees it: memory nodes, the workers beside them, and the links between nodes. Made
// from the real machine, from a machine file, or by a test.
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

/// What a memory node is for.
enum class NodeRole : std::uint8_t {
  home,   // holds data for good: user memory, spill files, generators. Has room for all its data; nothing is
          // evicted
  cache,  // a bounded copy of what homes hold, where tasks work: the pool in RAM, the memory of a device
};

/// Which memory a node is, for those to whom that makes a difference; the engine asks for the role alone.
enum class MemoryKind : std::uint8_t {
  other,
  user,    // the program's own; a home
  store,   // where data are kept that do not fit: a disk; a home
  host,    // the pool in RAM, beside which the cores are; a cache
  device,  // of an accelerator; a cache
};

struct NodeSpec {
  std::string name;
  NodeRole role = NodeRole::cache;
  Bytes capacity = 0;             ///< cache: what tasks may reserve in all
  std::vector<NodeId> reaches{};  ///< cache: homes whose data its workers use in place, without a copy
  MemoryKind memory = MemoryKind::other;
};

struct WorkerSpec {
  WorkerKind kind = WorkerKind::cpu;
  NodeId node{};  ///< the cache on which its tasks reserve
  /// Which processor of that kind, where tasks take longer on some than on others: durations are kept for
  /// each.
  std::string processor{};
  /// What it shares with some workers of its node, but not with all, from the outermost inwards, by numbers:
  /// package, NUMA node, caches.
  std::vector<unsigned> shares{};
  /// Beside a device that is cores of the host, as OpenCL has some: how many of them a task uses there; else 0.
  unsigned on_cores = 0;
  /// Of a processor that it shares, while a task of it is alone there.
  unsigned taken() const noexcept { return on_cores > 0 ? on_cores : 1; }
};

/// Of two workers of one memory node: how many of the levels that they may share they do not.
std::uint32_t levels_apart(const WorkerSpec& a, const WorkerSpec& b) noexcept;

/// What several wires go through, such as the bus that all cards are plugged into.
struct BusSpec {
  std::string name;
  Bandwidth bytes_per_second = 1e9;
  bool duplex = false;  ///< as a link's
};

/// A bus that a wire goes through.
struct BusUse {
  std::size_t bus = 0;  ///< place in Topology::buses
  /// Away from home on the wire is back on the bus: of a port, which has sides of its own.
  bool reversed = false;
};

/// What the copies between two nodes have to share. Away from home is from `first` to `second`: homes come first, then RAM,
/// then devices.
struct LinkSpec {
  std::string name;
  NodeId first{}, second{};
  Bandwidth bytes_per_second = 1e9;  ///< of copies that have it for themselves
  /// Copies in one direction neither slow those in the other down nor wait for them.
  bool duplex = false;
  Duration latency{};
  /// Started and not finished, in each direction if it is duplex; the rest waits in the engine, where it can be
  /// taken back.
  unsigned concurrent_copies = 8;
  /// Empty: a wire of its own. Else the wires that its copies cross, from `first` to `second`: one that other
  /// nodes use too, or two that meet in the cache `through`.
  std::vector<LinkId> legs{};
  NodeId through = no_id<NodeId>;
  /// Of a wire of its own: the buses that it goes through. Simulations only: real machines see to that
  /// themselves.
  std::vector<BusUse> buses{};
  /// Only for data that nothing has written yet: what comes from `first` over this link is not stored there
  /// but computed, by workers of cores.
  bool computes = false;
};

/// A wire as a copy crosses it.
struct Leg {
  LinkId link{};
  bool away_from_home = true;  ///< from the link's first node to its second
};

/// Workers that share processors, as the streams of an accelerator do, or cores and devices that are cores: those that run at the same time share it
/// fairly, so that all get done `together` times what one alone would, and each at most what it would alone. Only
/// simulations look at it.
struct SharedProcessors {
  std::vector<std::size_t> of_worker;  ///< which one; empty: each worker has its own
  std::vector<double> together;        ///< by processor
};

struct Topology {
  std::vector<NodeSpec> nodes;
  std::vector<WorkerSpec> workers;
  std::vector<LinkSpec> links;
  std::vector<BusSpec> buses{};
  SharedProcessors shared{};

  bool is(NodeId node, MemoryKind memory) const { return nodes[index(node)].memory == memory; }
  /// The only nodes of their kinds. They throw ConfigError if there is none.
  NodeId user_memory() const { return the_only(MemoryKind::user); }
  NodeId store() const { return the_only(MemoryKind::store); }
  NodeId host() const { return the_only(MemoryKind::host); }
  /// Memories of accelerators, in the order in which these are numbered.
  std::vector<NodeId> devices() const;
  /// So many compute there: cores, or the streams of an accelerator.
  std::size_t workers_on(NodeId node) const;
  /// What fits there fits into each of these; without any, everything does.
  Bytes smallest_device() const;

  /// The link that joins two nodes; not one that computes. Throws ConfigError if there is none.
  LinkId link_between(NodeId a, NodeId b) const;
  /// The wires that a copy over the link crosses, in this order.
  std::vector<Leg> legs_of(LinkId whole, NodeId from, NodeId to) const;
  /// The same for the link that joins the nodes.
  std::vector<Leg> legs_between(NodeId from, NodeId to) const {
    return legs_of(link_between(from, to), from, to);
  }
  /// How long so many bytes take from one node to the others, an equal part to each and all at the same time, if nothing
  /// else is under way: wires and buses that several of these ways cross carry the parts of all.
  Duration time_to_all(Bytes bytes, NodeId from, std::span<const NodeId> to) const;
  /// Joins two nodes by wires that are there already: as fast as the slowest of them.
  void join(NodeId first, NodeId second, std::vector<LinkId> legs, NodeId through = no_id<NodeId>);
  /// Wires have changed since: what crosses them is as fast as they are now.
  void wires_changed();

 private:
  NodeId the_only(MemoryKind memory) const;
  void cross_wires(LinkId id);
};

/// An accelerator: a cache of its own behind a wire to RAM.
struct DeviceSpec {
  std::string name;
  WorkerKind kind = WorkerKind::emulated;
  Bytes capacity = 0;
  Bandwidth bytes_per_second = 10e9;  ///< of its wire
  bool duplex = true;
  Duration latency{10'000};
  unsigned workers = 1;
  std::string processor{};  ///< as WorkerSpec's
  unsigned on_cores = 0;    ///< likewise
};
/// Adds it to a topology that has user memory, a store and RAM, and returns its node. Its copies from and to
/// user memory cross its wire, those from and to the disk and other devices go through RAM.
NodeId add_device(Topology& topology, const DeviceSpec& device);
/// Gives two devices a wire of their own in place of the way through RAM. Away from home on it is from the one that
/// was added first.
void join_peers(Topology& topology, NodeId a, NodeId b, Bandwidth bytes_per_second, Duration latency,
                bool duplex = true);

/// Data with a home on disk may be computed there at first: a link that computes, from the disk to RAM, and
/// from there on by wire to each device. To be called last. `bytes_per_second`: of all cores together.
void add_generator(Topology& topology, double bytes_per_second);

/// One pool in RAM over user memory and a disk.
Topology out_of_core_topology(std::size_t workers, Bytes capacity, double disk_bytes_per_second,
                              Duration disk_latency);

}  // namespace fairlead
