// See fast_path_data.hpp.
#include "memory/fast_path_data.hpp"

namespace fairlead::memory {

std::optional<Location> FastPathData::keep(DatumId id, NodeId node_id, bool has_value) {
  MemoryNode& node = state_.node(node_id);
  Datum& datum = state_.data[id];
  if (datum.poisoned || datum.removed || datum.out_of_view || datum.partials != 0) return std::nullopt;
  // A generated datum that was never written is not stored. A read must not make it count as written.
  if (datum.generator != nullptr && datum.version == 1) return std::nullopt;
  if (state_.reaches(node_id, datum.home.node))
    return datum.dirty() || datum.home.arriving != nullptr ? std::nullopt
                                                           : std::optional(datum.home.location());
  Replica& replica = state_.data.cached_on(id, node_id);
  if (!replica.on_fast_path) {
    if (replica.state == ReplicaState::absent) {
      if (has_value || node.claimant != nullptr) return std::nullopt;
      if (!coherence_.reserve(replica, node, ReplicaState::valid)) return std::nullopt;
      coherence_.notify_loaded(replica);
    } else if (replica.state != ReplicaState::valid || replica.outgoing != nullptr ||
               (has_value && replica.version != datum.version)) {
      return std::nullopt;
    }
    if (replica.in_list) coherence_.remove_victim(replica);
    if (!datum.dirty() || replica.version != datum.version) transfers_.written(datum, replica);
    replica.on_fast_path = true;
    node.fast_path_bytes += replica.block->bytes;
    stay_.append(replica);
  }
  return replica.location();
}

void FastPathData::release(Replica& replica) {
  stay_.remove(replica);
  replica.on_fast_path = false;
  state_.node(replica.node).fast_path_bytes -= replica.block->bytes;
  state_.note_change();
  coherence_.settle(replica);
}

void FastPathData::end() {
  while (Replica* replica = stay_.oldest()) release(*replica);
  in_the_way_ = false;
}

}  // namespace fairlead::memory
