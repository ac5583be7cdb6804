// Where bytes are, as far as memory knows: it gives out offsets and never looks at an address. What a location is
// as an address, only those say who have the node's memory (backend/addresses.hpp): a device's may be none that
// cores can follow, and a simulated node has none at all.
#pragma once
#include <fairlead/ids.hpp>

#include "data/task.hpp"

namespace fairlead::memory {

struct Location {
  NodeId node = no_id<NodeId>;  ///< none: it is used in its home, by whatever the program gave
  Bytes offset = 0;             ///< from the beginning of the node's memory, or of its file
  void* users = nullptr;  ///< the program's own memory: what the program gave, handed on unread. Else null

  friend bool operator==(const Location&, const Location&) = default;
};

/// Where an admitted task has what it uses, until somebody has made an address of it.
inline Location location_of(const Task& task, const Access& access) noexcept {
  if (access.in_place) return {.users = access.address};
  return {.node = task.node, .offset = access.offset};
}

}  // namespace fairlead::memory
