// Data that come before a task has asked for them (rule 6).
#pragma once
#include "memory/evictor.hpp"

namespace fairlead::memory {

class Prefetches {
 public:
  Prefetches(State& state, Coherence& coherence, Transfers& transfers, Evictor& evictor)
      : state_(state), coherence_(coherence), transfers_(transfers), evictor_(evictor) {}

  /// Brings a datum to a node if there is free space, or the policy spares some. False if nothing was
  /// started. Never if a task waits for the node's memory, if it would take more than a share of the node, or
  /// if it was done twice in vain since a task last used the datum there.
  bool fetch(DatumId id, NodeId node, Effects& effects);
  /// Whether asking is worth while at all.
  bool possible(NodeId id) const noexcept {
    const MemoryNode& node = state_.node(id);
    return node.claimant == nullptr && node.data != 0 &&
           node.prefetching_bytes < node.space->capacity() / share;
  }
  /// Neither used nor dropped so far.
  Bytes unused(NodeId node) const noexcept;

 private:
  static constexpr Bytes share = 4;  ///< of a node's capacity, one part in this many

  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
  Evictor& evictor_;
};

}  // namespace fairlead::memory
