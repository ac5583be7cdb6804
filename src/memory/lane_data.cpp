// See lane_data.hpp.
#include "memory/lane_data.hpp"

namespace fairlead::memory {

std::optional<Location> LaneData::keep(DatumId id, NodeId node_id, bool has_value) {
  MemoryNode& node = state_.node(node_id);
  Datum& datum = state_.data[id];
  if (datum.poisoned || datum.removed || datum.out_of_view || datum.partials != 0) return std::nullopt;
  // What nothing has written is stored nowhere, and must not count as written because somebody reads it.
  if (datum.generator != nullptr && datum.version == 1) return std::nullopt;
  if (state_.reaches(node_id, datum.home.node))
    return datum.dirty() || datum.home.arriving != nullptr ? std::nullopt
                                                           : std::optional(datum.home.location());
  Replica& replica = state_.data.cached_on(id, node_id);
  if (!replica.in_lane) {
    if (replica.state == ReplicaState::absent) {
      if (has_value || node.claimant != nullptr) return std::nullopt;
      if (!coherence_.reserve(replica, node, ReplicaState::valid)) return std::nullopt;
      coherence_.tell_loaded(replica);
    } else if (replica.state != ReplicaState::valid || replica.outgoing != nullptr ||
               (has_value && replica.version != datum.version)) {
      return std::nullopt;
    }
    if (replica.in_list) coherence_.keep_back(replica);
    if (!datum.dirty() || replica.version != datum.version) transfers_.written(datum, replica);
    replica.in_lane = true;
    node.lane_bytes += replica.block->bytes;
    stay_.append(replica);
  }
  return replica.location();
}

void LaneData::let_go(Replica& replica) {
  stay_.remove(replica);
  replica.in_lane = false;
  state_.node(replica.node).lane_bytes -= replica.block->bytes;
  state_.note_change();
  coherence_.settle(replica);
}

void LaneData::end() {
  while (Replica* replica = stay_.oldest()) let_go(*replica);
  in_the_way_ = false;
}

}  // namespace fairlead::memory
