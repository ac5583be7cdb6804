// See evictor.hpp.
#include "memory/evictor.hpp"

#include "base/check.hpp"

namespace fairlead::memory {

/// Walks the list of replicas that may leave, oldest first. Skips those that would not do: whose version
/// cannot go home now; and, for a copy that passes, also those that cannot be dropped at once or are too
/// small.
class Evictor::LeastRecentlyUsed final : public Candidates {
 public:
  /// `passing`: the space that a copy takes that passes; 0: it is for something else.
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
  /// Others may be many, and copies that pass are, too: it is not worth more.
  static constexpr unsigned most_looked_at_for_passing = 16;

  const State& state_;
  Replica* next_;
  const Bytes passing_;
  unsigned most_looked_at_;
};

/// The one that the policy names; of those that would do, the least recently used if it names another. Null
/// if none would.
Replica* Evictor::victim(MemoryNode& node, Bytes passing) {
  LeastRecentlyUsed candidates(state_, node, passing);
  DatumId id = state_.policy->victim(node.id, candidates);
  // A policy that names none of them must not keep others waiting.
  if (index(id) >= state_.data.size() || !candidates.acceptable(state_.usable(id, node)))
    id = LeastRecentlyUsed(state_, node, passing).next();
  return id == no_id<DatumId> ? nullptr : &state_.usable(id, node);
}

bool Evictor::make_room(Purpose purpose, MemoryNode& node, std::span<const Bytes> sizes, Effects& effects,
                        DatumId wanted) {
  if (purpose == Purpose::prefetch) return spare_for(wanted, sizes.front(), node, effects);
  if (purpose == Purpose::passing) return drop_for(sizes.front(), node);
  Bytes need = 0;
  for (const Bytes bytes : sizes) need += node.space->rounded(bytes);
  const auto coming = [&] { return node.leaving_bytes + node.revoked_bytes; };
  for (;;) {
    if (node.space->can_allocate(sizes)) return true;
    // Enough is on its way out already: more would leave for nothing.
    if (coming() > 0 && node.space->free_bytes() + coming() >= need) return false;
    Replica* const replica = victim(node, 0);
    if (replica == nullptr) return false;
    leave(*replica, node, effects);
  }
}

/// Makes leave what the policy values less than `wanted`. True if there is room for that at once; else what
/// leaves is on its way home, and the prefetch can be tried again when it is there.
bool Evictor::spare_for(DatumId wanted, Bytes bytes, MemoryNode& node, Effects& effects) {
  if (node.leaving_bytes > 0) return false;
  LeastRecentlyUsed candidates(state_, node);
  const DatumId id = state_.policy->spare(node.id, wanted, candidates);
  if (index(id) >= state_.data.size() || id == wanted) return false;
  Replica& replica = state_.usable(id, node);
  // One that is too small would leave for nothing.
  if (!candidates.acceptable(replica) || replica.block->bytes < node.space->rounded(bytes)) return false;
  leave(replica, node, effects);
  return replica.state == ReplicaState::absent;
}

/// One that others hold as well goes, if its space alone is enough: none goes in vain.
bool Evictor::drop_for(Bytes bytes, MemoryNode& node) {
  const Bytes needed = node.space->rounded(bytes);
  if (LeastRecentlyUsed(state_, node, needed).next() == no_id<DatumId>) return false;  // as most often
  ++node.evictions;
  coherence_.drop(*victim(node, needed), DropReason::evicted);
  return true;
}

void Evictor::leave(Replica& replica, MemoryNode& node, Effects& effects) {
  ++node.evictions;
  Datum& datum = state_.data[replica.datum];
  if (state_.another_holds(datum, replica) || state_.mistake.is(Mistake::dirty_dropped)) {
    coherence_.drop(replica, DropReason::evicted);
    return;
  }
  coherence_.begin_leaving(replica);
  // On the way home it may stay in a cache that has space for it now; nobody waits for such space (rule 5).
  const NodeId through = state_.routes.between(node.id, datum.home.node).through;
  Replica* const refuge = through == no_id<NodeId> ? nullptr : space_on_the_way(datum, through, effects);
  transfers_.enqueue(transfers_.make(replica, refuge != nullptr ? *refuge : datum.home, Cause::eviction),
                     effects);
}

void Evictor::keep_on_the_way(Copy& copy, Effects& effects) {
  const NodeId through = state_.routes.of(copy).through;
  if (through == no_id<NodeId>) return;
  if (Replica* const via = space_on_the_way(state_.data[copy.datum], through, effects); via != nullptr)
    transfers_.keep_in(copy, *via);
}

/// Space on a cache that a copy of the datum passes, if it can be had at once. Null if not.
Replica* Evictor::space_on_the_way(Datum& datum, NodeId through, Effects& effects) {
  MemoryNode& node = state_.node(through);
  if (state_.reaches(through, datum.home.node)) return nullptr;  // there it is used in its home only
  Replica& replica = state_.data.cached_on(datum.home.datum, through);
  if (replica.state != ReplicaState::absent || node.claimant != nullptr || datum.removed) return nullptr;
  if (coherence_.reserve(replica, node, ReplicaState::absent)) return &replica;
  if (!make_room(Purpose::passing, node, {&datum.bytes, 1}, effects, replica.datum)) return nullptr;
  ensure(coherence_.reserve(replica, node, ReplicaState::absent), "room was made for what passes");
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
