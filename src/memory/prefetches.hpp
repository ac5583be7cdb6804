// Starts prefetches: copies before a task requests the data (rule 6).
#pragma once
#include "memory/evictor.hpp"

namespace fairlead::memory {

class Prefetches {
 public:
  Prefetches(State& state, Coherence& coherence, Transfers& transfers, Evictor& evictor)
      : state_(state), coherence_(coherence), transfers_(transfers), evictor_(evictor) {}

  /// Starts a copy of the datum to the node if space is free or the policy spares some. False if no copy was started:
  /// a task waits for the node's memory, the prefetches in flight would exceed their share of the node, or two
  /// prefetches of the datum to this node were in vain since a task last used it there.
  bool fetch(DatumId id, NodeId node, Effects& effects);
  /// Quick check: false if fetch() would fail for every datum.
  bool possible(NodeId id) const noexcept {
    const MemoryNode& node = state_.node(id);
    return node.claimant == nullptr && node.data != 0 &&
           node.prefetching_bytes < node.space->capacity() / share;
  }
  /// Bytes that were prefetched, have arrived, and are neither used nor dropped.
  Bytes unused(NodeId node) const noexcept;

 private:
  static constexpr Bytes share = 4;  ///< prefetches in flight take at most 1 / share of a node's capacity

  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
  Evictor& evictor_;
};

}  // namespace fairlead::memory
