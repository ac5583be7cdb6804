// The cores that this process may use, and their NUMA nodes. Only the .cpp file depends on hwloc.
#pragma once
#include <fairlead/ids.hpp>

#include <string>
#include <vector>

namespace fairlead::machine {

struct Core {
  /// The first of its allowed hardware threads, by the system's number.
  unsigned processing_unit = 0;
  unsigned numa_node = 0;  ///< by the system's number
  /// The domains that it shares with some cores but not with all, outermost first: package, NUMA node, caches.
  std::vector<unsigned> domains{};  ///< arbitrary ids
};

struct NumaNode {
  unsigned number = 0;  ///< by the system's number
  unsigned cores = 0;   ///< allowed cores
  Bytes memory_bytes = 0;
};

struct Processors {
  std::vector<Core> cores;        ///< allowed cores: those with at least one allowed hardware thread
  unsigned cores_present = 0;     ///< all cores of the machine
  unsigned hardware_threads = 0;  ///< allowed ones; more than cores with simultaneous multithreading
  std::vector<NumaNode> numa_nodes;
};

/// The cores in the calling thread's affinity mask, which reflects taskset, the batch system and the cgroup's cpuset.
/// `synthetic` selects a machine in hwloc's notation ("numa:2 core:4 pu:2") instead, with all cores allowed. Throws
/// SystemError if hwloc fails.
Processors detect_processors(const std::string& synthetic = {});

}  // namespace fairlead::machine
