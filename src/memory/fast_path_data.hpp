// Data of the fast path, whose tasks are not admitted: their replicas may not leave, and count as written
// (docs/memory.md, "Data of the fast path").
#pragma once
#include <optional>

#include "memory/transfers.hpp"

namespace fairlead::memory {

class FastPathData {
 public:
  FastPathData(State& state, Coherence& coherence, Transfers& transfers)
      : state_(state), coherence_(coherence), transfers_(transfers) {}

  /// Keeps the datum's newest version on the node. It counts as written there from now on, since fast-path tasks
  /// change it without a notification. `has_value`: the datum has been written before. Returns its location; nothing
  /// if the newest version is elsewhere, is poisoned, or has no space.
  std::optional<Location> keep(DatumId id, NodeId node, bool has_value);
  /// Releases a replica that keep() kept.
  void release(Replica& replica);
  /// The fast path is closed and none of its tasks runs: data may leave again.
  void end();
  /// True if all data fit into the node together.
  bool all_fit(NodeId node) const noexcept {
    return bytes_of_data(node) <= state_.node(node).space->capacity();
  }
  /// Bytes of all data that are not used in place there, rounded by the allocator.
  Bytes bytes_of_data(NodeId node) const noexcept { return state_.node(node).data_bytes; }
  /// True if a task was refused because fast-path data occupied space. Reset by end().
  bool in_the_way() const noexcept { return in_the_way_; }
  /// A task was refused for lack of space on the node.
  void note_refusal(const MemoryNode& node) noexcept { in_the_way_ |= node.fast_path_bytes != 0; }

 private:
  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
  ReplicaList stay_;
  bool in_the_way_ = false;
};

}  // namespace fairlead::memory
