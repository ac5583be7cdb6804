// Address translation that is not inline.
#include "backend/addresses.hpp"

namespace fairlead::backend {

Addresses::Addresses(const Topology& topology) {
  for (const NodeSpec& node : topology.nodes)
    nodes_.push_back({.for_cores = node.memory == MemoryKind::host || node.memory == MemoryKind::user});
}

void Addresses::map(NodeId node, void* begin) noexcept {
  nodes_[index(node)].begin = reinterpret_cast<std::uintptr_t>(begin);
}

TransferEnd Addresses::place_of(const memory::Location& at) const noexcept {
  auto* const address = static_cast<std::byte*>(of(at));
  return {at.node, at.offset, address, nodes_[index(at.node)].for_cores ? address : nullptr};
}

}  // namespace fairlead::backend
