// Detects cores with hwloc, restricted to the affinity mask.
#include "machine/processors.hpp"

#include <fairlead/error.hpp>

#include <hwloc.h>
#include <algorithm>
#include <memory>

namespace fairlead::machine {

namespace {

struct FreeTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, FreeTopology>;

struct FreeSet {
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using Set = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeSet>;

Topology load(const std::string& synthetic) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw SystemError("hwloc cannot be initialized");
  Topology topology(raw);
  if (!synthetic.empty() && hwloc_topology_set_synthetic(raw, synthetic.c_str()) != 0)
    throw SystemError("hwloc does not understand the description of a machine: " + synthetic);
  if (hwloc_topology_load(raw) != 0) throw SystemError("hwloc cannot look at this machine");
  return topology;
}

/// The topology of this machine, loaded once: hwloc reads some hundred files and loads plug-ins for it. The affinity
/// mask, which can change, is read separately. It is never freed, so that any thread may use it.
hwloc_topology_t this_machine() {
  static const hwloc_topology_t topology = load({}).release();
  return topology;
}

/// The ids of the domains that contain the core and other cores, but not all; outermost first. hwloc does not list NUMA
/// nodes as parents, but their package or a group is one. Domains with equal sets of cores, such as a cache of a whole
/// package, are listed once.
std::vector<unsigned> shared_by(hwloc_obj_t core, hwloc_const_bitmap_t all) {
  std::vector<unsigned> shares;
  hwloc_const_bitmap_t within = core->cpuset;
  for (hwloc_obj_t around = core->parent; around != nullptr; around = around->parent) {
    if (hwloc_bitmap_isequal(around->cpuset, within)) continue;
    within = around->cpuset;
    if (hwloc_bitmap_isequal(within, all)) break;
    shares.push_back(static_cast<unsigned>(around->gp_index));
  }
  std::ranges::reverse(shares);
  return shares;
}

}  // namespace

Processors detect_processors(const std::string& synthetic) {
  const Topology described = synthetic.empty() ? nullptr : load(synthetic);
  const hwloc_topology_t topology = described ? described.get() : this_machine();
  Set allowed(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
  if (synthetic.empty()) {
    const Set mask(hwloc_bitmap_alloc());
    if (hwloc_get_cpubind(topology, mask.get(), HWLOC_CPUBIND_THREAD) == 0)
      hwloc_bitmap_and(allowed.get(), allowed.get(), mask.get());
  }

  Processors found;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));)
    found.numa_nodes.push_back({node->os_index, 0, node->attr->numanode.local_memory});
  // Some virtual machines do not report cores: each hardware thread counts as one.
  const bool cores_known = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = cores_known ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology, type, core));) {
    ++found.cores_present;
    const Set threads(hwloc_bitmap_dup(core->cpuset));
    hwloc_bitmap_and(threads.get(), threads.get(), allowed.get());
    if (hwloc_bitmap_iszero(threads.get())) continue;
    found.hardware_threads += static_cast<unsigned>(hwloc_bitmap_weight(threads.get()));
    const int node = core->nodeset ? hwloc_bitmap_first(core->nodeset) : 0;
    const unsigned number = node < 0 ? 0 : static_cast<unsigned>(node);
    found.cores.push_back({.processing_unit = static_cast<unsigned>(hwloc_bitmap_first(threads.get())),
                           .numa_node = number,
                           .domains = shared_by(core, hwloc_topology_get_topology_cpuset(topology))});
    const auto home = std::ranges::find(found.numa_nodes, number, &NumaNode::number);
    if (home != found.numa_nodes.end()) ++home->cores;
  }
  if (found.cores.empty()) throw SystemError("hwloc finds no core that this process may run on");
  return found;
}

}  // namespace fairlead::machine
