// The cores this process may run on, and the NUMA nodes they belong to. hwloc's types stay in the .cpp.
#pragma once
#include <fairlead/ids.hpp>

#include <string>
#include <vector>

namespace fairlead::machine {

struct Core {
  /// The first of its hardware threads that is allowed, as the system numbers it.
  unsigned processing_unit = 0;
  unsigned numa_node = 0;  ///< as the system numbers it
  /// What it shares with some others, but not with all, from the outermost inwards: package, NUMA node, caches.
  std::vector<unsigned> shares{};  ///< numbers that mean nothing else
};

struct NumaNode {
  unsigned number = 0;  ///< as the system numbers it
  unsigned cores = 0;   ///< allowed ones
  Bytes memory_bytes = 0;
};

struct Processors {
  std::vector<Core> cores;        ///< that may be used: each with at least one allowed hardware thread
  unsigned cores_present = 0;     ///< of the machine
  unsigned hardware_threads = 0;  ///< allowed ones: more than cores with simultaneous multithreading
  std::vector<NumaNode> numa_nodes;
};

/// What the calling thread's affinity mask allows: it holds what taskset, a batch system and the cgroup's
/// cpuset say. `synthetic` describes a machine in hwloc's words ("numa:2 core:4 pu:2") to look at that one
/// instead, all of it allowed. Throws SystemError if hwloc cannot look.
Processors processors(const std::string& synthetic = {});

}  // namespace fairlead::machine
