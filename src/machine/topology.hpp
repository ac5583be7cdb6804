// The machine as the engine sees it: memory nodes, the workers beside them, and the links between nodes. Made
// from the real machine, from a machine file, or by a test.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/ids.hpp>

#include <string>
#include <vector>

#include "base/time.hpp"
#include "machine/worker_kind.hpp"

namespace fairlead {

/// What a memory node is for.
enum class NodeRole : std::uint8_t {
  home,   // holds data for good: user memory, spill files, generators. Has room for all its data; nothing is
          // evicted
  cache,  // a bounded copy of what homes hold, where tasks work: the pool in RAM, the memory of a device
};

struct NodeSpec {
  std::string name;
  NodeRole role = NodeRole::cache;
  Bytes capacity = 0;             ///< cache: what tasks may reserve in all
  std::vector<NodeId> reaches{};  ///< cache: homes whose data its workers use in place, without a copy
};

struct WorkerSpec {
  WorkerKind kind = WorkerKind::cpu;
  NodeId node{};  ///< the cache on which its tasks reserve
};

/// What the copies between two nodes have to share, both directions together.
struct LinkSpec {
  std::string name;
  NodeId first{}, second{};
  double bytes_per_second = 1e9;
  Duration latency{};
  unsigned concurrent_copies =
      8;  ///< started and not finished; the rest waits in the engine, where it can be taken back
};

struct Topology {
  std::vector<NodeSpec> nodes;
  std::vector<WorkerSpec> workers;
  std::vector<LinkSpec> links;

  /// The link that joins two nodes. Throws ConfigError if there is none.
  LinkId link_between(NodeId a, NodeId b) const;
};

/// One pool in RAM over user memory and a disk: nodes 0 "user memory", 1 "disk", 2 "RAM".
struct OutOfCoreNodes {
  static constexpr NodeId user_memory{0}, disk{1}, ram{2};
};
Topology out_of_core_topology(std::size_t workers, Bytes capacity, double disk_bytes_per_second,
                              Duration disk_latency);

}  // namespace fairlead
