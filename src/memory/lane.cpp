// Data that stay where they are for the direct lane, whose tasks nobody admits: they may not leave, and count
// as written (docs/memory.md, "The direct lane").
#include <algorithm>

#include "memory/memory.hpp"

namespace fairlead::memory {

void* Memory::keep_for_lane(DatumId id, NodeId node_id, bool has_value) {
  MemoryNode& node = nodes_[index(node_id)];
  Datum& datum = data_[id];
  if (datum.poisoned || datum.removed || datum.out_of_view || datum.partials != 0) return nullptr;
  // What nothing has written is stored nowhere, and must not count as written because somebody reads it.
  if (datum.generator != nullptr && datum.version == 1) return nullptr;
  if (reaches(node_id, datum.home.node))
    return datum.dirty() || datum.home.arriving != nullptr ? nullptr : datum.home.address;
  Replica& replica = data_.cached_on(id, node_id);
  if (!replica.in_lane) {
    if (replica.state == ReplicaState::absent) {
      if (has_value || node.claimant != nullptr) return nullptr;
      const auto range = node.space.allocate(datum.bytes);
      if (!range) return nullptr;
      replica.version = 0;
      replica.state = ReplicaState::valid;
      occupy(replica, node, *range);
      if (tell_residency_) policy_->loaded(id, node_id);
    } else if (replica.state != ReplicaState::valid || replica.outgoing != nullptr ||
               (has_value && replica.version != datum.version)) {
      return nullptr;
    }
    if (replica.in_list) node.may_leave.remove(replica);
    if (!datum.dirty() || replica.version != datum.version) written(datum, replica);
    replica.in_lane = true;
    node.lane_bytes += replica.block.bytes;
    lane_.append(replica);
    replica.in_list = false;  // that means the other list
  }
  return node.base + replica.block.offset;
}

void Memory::leave_lane(Replica& replica) {
  MemoryNode& node = nodes_[index(replica.node)];
  lane_.remove(replica);
  replica.in_lane = false;
  node.lane_bytes -= replica.block.bytes;
  note_change();
  settle(replica);
}

void Memory::end_lane() {
  while (Replica* replica = lane_.oldest()) leave_lane(*replica);
  lane_is_in_the_way_ = false;
}

}  // namespace fairlead::memory
