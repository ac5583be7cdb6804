// Translates locations (node and offset) to addresses; the only place that does. Used when a task starts, a copy
// starts, the program gets a hold, or the fast path accepts a datum. The owner of a node's memory registers its
// start.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/transfer_engine.hpp"
#include "data/task.hpp"
#include "machine/topology.hpp"
#include "memory/location.hpp"

namespace fairlead::backend {

/// Changed only during setup; any thread may read it from the first task or copy on.
class Addresses {
 public:
  Addresses() = default;
  /// All nodes are without memory at first.
  explicit Addresses(const Topology& topology);

  /// Sets the start of the node's memory, as bodies on the node address it; cores may be unable to access it.
  void map(NodeId node, void* begin) noexcept;

  /// Null if bodies cannot address it: it is in a file, or has no storage, as in a simulation.
  void* of(const memory::Location& at) const noexcept {
    if (at.users != nullptr || at.node == no_id<NodeId>) return at.users;
    const std::uintptr_t begin = nodes_[index(at.node)].begin;
    return begin == 0 ? nullptr : reinterpret_cast<void*>(begin + at.offset);
  }
  /// Sets the addresses of the task's accesses. Called when the task starts on its node.
  void resolve(Task& task) const noexcept {
    for (Access& access : task.accesses())
      if (!access.in_place) access.address = of(memory::location_of(task, access));
  }
  /// The place of one end of a copy.
  TransferEnd place_of(const memory::Location& at) const noexcept;

 private:
  struct Node {
    std::uintptr_t begin = 0;  // a number, since it must not be dereferenced here; 0: no memory
    bool for_cores = false;
  };
  std::vector<Node> nodes_;  // by NodeId
};

}  // namespace fairlead::backend
