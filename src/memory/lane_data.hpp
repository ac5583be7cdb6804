// Data that stay where they are for the direct lane, whose tasks nobody admits: they may not leave, and count
// as written (docs/memory.md, "The direct lane").
#pragma once
#include <optional>

#include "memory/transfers.hpp"

namespace fairlead::memory {

class LaneData {
 public:
  LaneData(State& state, Coherence& coherence, Transfers& transfers)
      : state_(state), coherence_(coherence), transfers_(transfers) {}

  /// The datum's newest version stays on the node, and counts as written there from now on, since tasks of
  /// the direct lane change it untold. `has_value`: something has been written into it before. Returns where
  /// it is; nothing if it is somewhere else, is poisoned, or has no room.
  std::optional<Location> keep(DatumId id, NodeId node, bool has_value);
  /// The replica need not stay any more.
  void let_go(Replica& replica);
  /// The lane is closed, and nobody is inside: data may leave again.
  void end();
  /// Whether all data fit into the node together.
  bool all_fit(NodeId node) const noexcept {
    return bytes_of_data(node) <= state_.node(node).space->capacity();
  }
  /// Of all data that are not used in place there, as the allocator rounds them.
  Bytes bytes_of_data(NodeId node) const noexcept { return state_.node(node).data_bytes; }
  /// Somebody was kept out by data that stay for the lane. Until the lane ends.
  bool in_the_way() const noexcept { return in_the_way_; }
  /// A task got no room on the node.
  void note_refusal(const MemoryNode& node) noexcept { in_the_way_ |= node.lane_bytes != 0; }

 private:
  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
  ReplicaList stay_;
  bool in_the_way_ = false;
};

}  // namespace fairlead::memory
