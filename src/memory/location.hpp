// A location of bytes, as memory refers to it: a node and an offset, never a dereferenced address. The owner of the
// node's memory translates it (backend/addresses.hpp). A device address may be unusable by CPU cores, and a simulated
// node has no addresses.
#pragma once
#include <fairlead/ids.hpp>

#include "data/task.hpp"

namespace fairlead::memory {

struct Location {
  NodeId node = no_id<NodeId>;  ///< no_id: used in the home, at the program's address
  Bytes offset = 0;             ///< bytes from the start of the node's memory or file
  void* users = nullptr;  ///< user memory: the program's address, never dereferenced here. Otherwise null

  friend bool operator==(const Location&, const Location&) = default;
};

/// The location of an admitted task's datum, before its translation into an address.
inline Location location_of(const Task& task, const Access& access) noexcept {
  if (access.in_place) return {.users = access.address};
  return {.node = task.node, .offset = access.offset};
}

}  // namespace fairlead::memory
