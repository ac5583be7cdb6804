// See evictor.hpp.
#include "memory/evictor.hpp"

#include "base/check.hpp"

namespace fairlead::memory {

/// Iterates over the replicas that may leave, least recently used first. Skips replicas whose version cannot be
/// written home now. For space for a copy in transit it also skips replicas that are too small or cannot be dropped
/// at once.
class Evictor::LeastRecentlyUsed final : public EvictionCandidates {
 public:
  /// `passing`: the bytes that a copy in transit takes; 0: the space is for another purpose.
  LeastRecentlyUsed(const State& state, const MemoryNode& node, Bytes passing = 0)
      : state_(state),
        next_(node.may_leave->oldest()),
        passing_(passing),
        most_looked_at_(passing == 0 ? ~0u : most_looked_at_for_passing) {}

  bool acceptable(const Replica& replica) const {
    const Datum& datum = state_.data[replica.datum];
    if (passing_ == 0) return replica.in_list && state_.may_leave(datum, replica);
    return replica.in_list && !replica.prefetched && replica.block->bytes >= passing_ &&
           state_.another_holds(datum, replica);
  }
  DatumId next() override {
    while (next_ != nullptr && most_looked_at_-- != 0) {
      const Replica& replica = *next_;
      next_ = replica.newer;
      if (acceptable(replica)) return replica.datum;
    }
    return no_id<DatumId>;
  }

 private:
  /// A limit, since such copies are frequent and lists may be long.
  static constexpr unsigned most_looked_at_for_passing = 16;

  const State& state_;
  Replica* next_;
  const Bytes passing_;
  unsigned most_looked_at_;
};

/// The policy's victim, or the least recently used candidate if the policy names no candidate. Null if no candidate
/// exists.
Replica* Evictor::victim(MemoryNode& node, Bytes passing) {
  LeastRecentlyUsed candidates(state_, node, passing);
  DatumId id = state_.policy->victim(node.id, candidates);
  // A policy that names no candidate must not block other tasks.
  if (index(id) >= state_.data.size() || !candidates.acceptable(state_.usable(id, node)))
    id = LeastRecentlyUsed(state_, node, passing).next();
  return id == no_id<DatumId> ? nullptr : &state_.usable(id, node);
}

bool Evictor::make_room(Purpose purpose, MemoryNode& node, std::span<const Bytes> sizes, Effects& effects,
                        DatumId wanted) {
  if (purpose == Purpose::prefetch) return spare_for(wanted, sizes.front(), node, effects);
  if (purpose == Purpose::transit) return drop_for(sizes.front(), node);
  Bytes need = 0;
  for (const Bytes bytes : sizes) need += node.space->rounded(bytes);
  const auto coming = [&] { return node.leaving_bytes + node.revoked_bytes; };
  for (;;) {
    if (node.space->can_allocate(sizes)) return true;
    // Enough space is being freed already: more evictions would be in vain.
    if (coming() > 0 && node.space->free_bytes() + coming() >= need) return false;
    Replica* const replica = victim(node, 0);
    if (replica == nullptr) return false;
    evict(*replica, node, effects);
  }
}

/// Evicts a replica that the policy values less than `wanted`. True if space is free at once. False may mean that the
/// replica is being written home; the prefetch can be retried when that copy has ended.
bool Evictor::spare_for(DatumId wanted, Bytes bytes, MemoryNode& node, Effects& effects) {
  if (node.leaving_bytes > 0) return false;
  LeastRecentlyUsed candidates(state_, node);
  const DatumId id = state_.policy->prefetch_victim(node.id, wanted, candidates);
  if (index(id) >= state_.data.size() || id == wanted) return false;
  Replica& replica = state_.usable(id, node);
  // Evicting a smaller replica would be in vain.
  if (!candidates.acceptable(replica) || replica.block->bytes < node.space->rounded(bytes)) return false;
  evict(replica, node, effects);
  return replica.state == ReplicaState::absent;
}

/// Drops one replica that is valid elsewhere and large enough alone, so that no eviction is in vain.
bool Evictor::drop_for(Bytes bytes, MemoryNode& node) {
  const Bytes needed = node.space->rounded(bytes);
  if (LeastRecentlyUsed(state_, node, needed).next() == no_id<DatumId>)
    return false;  // the most frequent case
  ++node.evictions;
  coherence_.drop(*victim(node, needed), DropReason::evicted);
  return true;
}

void Evictor::evict(Replica& replica, MemoryNode& node, Effects& effects) {
  ++node.evictions;
  Datum& datum = state_.data[replica.datum];
  if (state_.another_holds(datum, replica) || state_.mistake.is(Mistake::dirty_dropped)) {
    coherence_.drop(replica, DropReason::evicted);
    return;
  }
  coherence_.begin_leaving(replica);
  // On the way home the replica may stay in a cache that has space now; no task waits for such space (rule 5).
  const NodeId through = state_.routes.between(node.id, datum.home.node).through;
  Replica* const refuge = through == no_id<NodeId> ? nullptr : reserve_staging(datum, through, effects);
  transfers_.enqueue(transfers_.make(replica, refuge != nullptr ? *refuge : datum.home, Cause::eviction),
                     effects);
}

void Evictor::keep_staging_replica(Copy& copy, Effects& effects) {
  const NodeId through = state_.routes.of(copy).through;
  if (through == no_id<NodeId>) return;
  if (Replica* const via = reserve_staging(state_.data[copy.datum], through, effects); via != nullptr)
    transfers_.keep_in(copy, *via);
}

/// Reserves space on a cache that a copy of the datum passes. Null if no space can be had at once.
Replica* Evictor::reserve_staging(Datum& datum, NodeId through, Effects& effects) {
  MemoryNode& node = state_.node(through);
  if (state_.reaches(through, datum.home.node)) return nullptr;  // workers there use the home in place
  Replica& replica = state_.data.cached_on(datum.home.datum, through);
  if (replica.state != ReplicaState::absent || node.claimant != nullptr || datum.removed) return nullptr;
  if (coherence_.reserve(replica, node, ReplicaState::absent)) return &replica;
  if (!make_room(Purpose::transit, node, {&datum.bytes, 1}, effects, replica.datum)) return nullptr;
  ensure(coherence_.reserve(replica, node, ReplicaState::absent),
         "the evictor has made space for the staged replica");
  return &replica;
}

void Evictor::drop_clean() {
  for (std::size_t i = 0; i < state_.data.size(); ++i) {
    Datum& datum = state_.data[static_cast<DatumId>(i)];
    for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum)
      if (replica->in_list && state_.another_holds(datum, *replica))
        coherence_.drop(*replica, DropReason::evicted);
  }
}

}  // namespace fairlead::memory
