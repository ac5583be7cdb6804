// See coherence.hpp.
#include "memory/coherence.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace fairlead::memory {

bool Coherence::reserve(Replica& replica, MemoryNode& node, ReplicaState state) {
  const auto range = node.space.write().allocate(state_.data[replica.datum].bytes);
  if (!range) return false;
  replica.version = 0;
  replica.state = state;
  replica.block = *range;
  node.peak_bytes = std::max(node.peak_bytes.get(), node.space->used_bytes());
  if (state_.notifies_residency) state_.policy->reserved(replica.datum, node.id);
  return true;
}

bool Coherence::take_scratch(Task& task, MemoryNode& node) {
  const auto range = node.space.write().allocate(task.scratch_bytes);
  if (!range) return false;
  task.scratch = range->offset;
  node.pinned_bytes += range->bytes;
  node.scratch_bytes += range->bytes;
  node.peak_bytes = std::max(node.peak_bytes.get(), node.space->used_bytes());
  return true;
}

void Coherence::give_scratch_back(Task& task, MemoryNode& node) {
  const ByteRange range{task.scratch, node.space->rounded(task.scratch_bytes)};
  node.space.write().release(range);
  node.pinned_bytes -= range.bytes;
  node.scratch_bytes -= range.bytes;
}

void Coherence::drop(Replica& replica, DropReason reason) {
  MemoryNode& node = state_.node(replica.node);
  ensure(replica.state != ReplicaState::absent && !replica.pinned(),
         "only a present and unused replica is dropped");
  if (replica.in_list) remove_victim(replica);
  const bool evicting = replica.state == ReplicaState::evicting;
  if (evicting) node.leaving_bytes -= replica.block->bytes;
  if (replica.prefetched) {
    no_longer_unused(replica);
    if (reason != DropReason::overwritten && replica.taken_back < 2) ++replica.taken_back;
    const bool moved = replica.state != ReplicaState::in_flight && reason != DropReason::failed;
    if (moved)
      node.unused_prefetch_bytes.write()[static_cast<std::size_t>(reason)] +=
          state_.data[replica.datum].bytes;
  }
  node.space.write().release(replica.block);
  state_.note_change();
  replica.block = ByteRange{};
  replica.state = ReplicaState::absent;
  if (state_.notifies_residency && !evicting) state_.policy->dropped(replica.datum, node.id, reason);
}

void Coherence::begin_leaving(Replica& replica) {
  MemoryNode& node = state_.node(replica.node);
  remove_victim(replica);
  replica.state = ReplicaState::evicting;
  node.leaving_bytes += replica.block->bytes;
  if (state_.notifies_residency)
    // its space counts as free from now on
    state_.policy->dropped(replica.datum, node.id, DropReason::evicted);
}

void Coherence::cancel_eviction(Replica& replica) {
  state_.node(replica.node).leaving_bytes -= replica.block->bytes;
  replica.state = ReplicaState::valid;
  if (!state_.notifies_residency) return;
  state_.policy->reserved(replica.datum, replica.node);
  state_.policy->arrived(replica.datum, replica.node);
}

void Coherence::pin(Replica& replica, MemoryNode& node) {
  if (replica.task_pins++ == 0 && state_.in_cache(replica)) {
    node.pinned_bytes += replica.block->bytes;
    if (replica.in_list) remove_victim(replica);
  }
}

void Coherence::unpin(Replica& replica, MemoryNode& node) {
  ensure(replica.task_pins > 0, "an unpinned replica was pinned");
  if (--replica.task_pins == 0 && state_.in_cache(replica)) {
    node.pinned_bytes -= replica.block->bytes;
    settle(replica);
  }
}

void Coherence::hold(Replica& replica, MemoryNode& node) {
  if (state_.mistake.is(Mistake::hold_not_pinned)) return unpin(replica, node);
  const bool cached = state_.in_cache(replica);
  if (replica.app_pins++ == 0 && cached) node.held_bytes += replica.block->bytes;
  if (--replica.task_pins == 0 && cached) node.pinned_bytes -= replica.block->bytes;
}

void Coherence::unhold(Replica& replica, MemoryNode& node) {
  if (state_.mistake.is(Mistake::hold_not_pinned)) return pin(replica, node);
  const bool cached = state_.in_cache(replica);
  ensure(replica.app_pins > 0, "a released replica was held");
  if (replica.task_pins++ == 0 && cached) node.pinned_bytes += replica.block->bytes;
  if (--replica.app_pins == 0 && cached) node.held_bytes -= replica.block->bytes;
}

void Coherence::settle(Replica& replica) {
  if (replica.state != ReplicaState::valid || replica.pinned() || replica.in_list) return;
  if (replica.version != state_.data[replica.datum].version) {
    drop(replica, replica.version == 0 ? DropReason::failed : DropReason::overwritten);
  } else if (state_.is_lost(replica.node)) {
    drop(replica, DropReason::failed);
  } else {
    add_victim(replica);
  }
}

}  // namespace fairlead::memory
