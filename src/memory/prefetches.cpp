// See prefetches.hpp.
#include "memory/prefetches.hpp"

namespace fairlead::memory {

bool Prefetches::fetch(DatumId id, NodeId node_id, Effects& effects) {
  MemoryNode& node = state_.node(node_id);
  Datum& datum = state_.data[id];
  if (node.claimant != nullptr || state_.reaches(node_id, datum.home.node) || datum.poisoned || datum.removed)
    return false;
  // A task may be changing it in place while other replicas are still current.
  if (datum.writers != 0 || datum.out_of_view) return false;
  if (node.prefetching_bytes + datum.bytes > node.space->capacity() / share) return false;
  Replica& replica = state_.data.cached_on(id, node_id);
  if (replica.state != ReplicaState::absent || replica.taken_back >= 2) return false;
  Replica* const source = transfers_.source_for(datum, replica, Cause::prefetch);
  // Computing a generated datum would delay workers with admitted tasks.
  if (source == nullptr || state_.made_from(datum, *source)) return false;
  if (!coherence_.reserve(replica, node, ReplicaState::absent) &&
      !(evictor_.make_room(Purpose::prefetch, node, {&datum.bytes, 1}, effects, id) &&
        coherence_.reserve(replica, node, ReplicaState::absent)))
    return false;
  coherence_.fetched_ahead(replica);
  Copy& copy = transfers_.make(*source, replica, Cause::prefetch);
  evictor_.keep_staging_replica(copy, effects);
  transfers_.enqueue(copy, effects);
  return true;
}

Bytes Prefetches::unused(NodeId node) const noexcept {
  Bytes bytes = 0;
  for (std::size_t i = 0; i < state_.data.size(); ++i) {
    const Replica* replica = state_.data.find_on(static_cast<DatumId>(i), node);
    if (replica != nullptr && replica->prefetched && replica->state == ReplicaState::valid)
      bytes += state_.data[replica->datum].bytes;
  }
  return bytes;
}

}  // namespace fairlead::memory
