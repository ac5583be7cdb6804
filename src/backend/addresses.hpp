// Locations as addresses: the one place where a node and an offset become what bodies and carriers use. Tasks ask
// when they begin, copies when they are started, the program when it gets a hold, the direct lane when a datum is
// let in. Whoever has a node's memory says where that begins.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/carrier.hpp"
#include "data/task.hpp"
#include "machine/topology.hpp"
#include "memory/location.hpp"

namespace fairlead::backend {

/// Changed while the machine is set up; from the first task and the first copy on, any thread may ask.
class Addresses {
 public:
  Addresses() = default;
  /// Nobody has memory so far.
  explicit Addresses(const Topology& topology);

  /// The memory of the node begins there, as bodies beside it see it: perhaps nowhere that cores could look.
  void map(NodeId node, void* begin) noexcept;

  /// Null: no body finds it, since it is in a file, or nowhere, as in a simulation.
  void* of(const memory::Location& at) const noexcept {
    if (at.users != nullptr || at.node == no_id<NodeId>) return at.users;
    const std::uintptr_t begin = nodes_[index(at.node)].begin;
    return begin == 0 ? nullptr : reinterpret_cast<void*>(begin + at.offset);
  }
  /// The task begins on its node: from now on its accesses have addresses.
  void resolve(Task& task) const noexcept {
    for (Access& access : task.accesses())
      if (!access.in_place) access.address = of(memory::location_of(task, access));
  }
  /// One end of a copy.
  Place place_of(const memory::Location& at) const noexcept;

 private:
  struct Node {
    std::uintptr_t begin = 0;  // a number, since nobody here may follow it. 0: there is nothing
    bool for_cores = false;
  };
  std::vector<Node> nodes_;  // by NodeId
};

}  // namespace fairlead::backend
