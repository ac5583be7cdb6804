// See evictor.hpp.
#include "memory/evictor.hpp"

#include <utility>

#include "memory/memory.hpp"

namespace fairlead::memory {

/// Walks the list of replicas that may leave, oldest first. Skips those that would not do: whose version
/// cannot go home now; and, for a copy that passes, also those that cannot be dropped at once or are too
/// small.
class Evictor::LeastRecentlyUsed final : public Candidates {
 public:
  /// `passing`: the space that a copy takes that passes; 0: it is for something else.
  LeastRecentlyUsed(const Memory& memory, const MemoryNode& node, Bytes passing = 0)
      : memory_(memory),
        next_(node.may_leave.oldest()),
        passing_(passing),
        most_looked_at_(passing == 0 ? ~0u : most_looked_at_for_passing) {}

  bool acceptable(const Replica& replica) const {
    const Datum& datum = memory_.data_[replica.datum];
    if (passing_ == 0) return replica.in_list && memory_.may_leave(datum, replica);
    return replica.in_list && !replica.prefetched && replica.block.bytes >= passing_ &&
           memory_.another_holds(datum, replica);
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

  const Memory& memory_;
  Replica* next_;
  const Bytes passing_;
  unsigned most_looked_at_;
};

/// The one that the policy names; of those that would do, the least recently used if it names another. Null
/// if none would.
Replica* Evictor::victim(MemoryNode& node, Bytes passing) {
  LeastRecentlyUsed candidates(memory_, node, passing);
  DatumId id = memory_.policy_->victim(node.id, candidates);
  // A policy that names none of them must not keep others waiting.
  if (index(id) >= memory_.data_.size() || !candidates.acceptable(memory_.usable(id, node)))
    id = LeastRecentlyUsed(memory_, node, passing).next();
  return id == no_id<DatumId> ? nullptr : &memory_.usable(id, node);
}

bool Evictor::make_room(Purpose purpose, MemoryNode& node, std::span<const Bytes> sizes, DatumId wanted) {
  if (purpose == Purpose::prefetch) return spare_for(wanted, sizes.front(), node);
  if (purpose == Purpose::passing) return drop_for(sizes.front(), node);
  Bytes need = 0;
  for (const Bytes bytes : sizes) need += node.space.rounded(bytes);
  const auto coming = [&] { return node.leaving_bytes + node.revoked_bytes; };
  for (;;) {
    if (node.space.can_allocate(sizes)) return true;
    // Enough is on its way out already: more would leave for nothing.
    if (coming() > 0 && node.space.free_bytes() + coming() >= need) return false;
    Replica* const replica = victim(node, 0);
    if (replica == nullptr) return false;
    leave(*replica, node);
  }
}

/// Makes leave what the policy values less than `wanted`. True if there is room for that at once; else what
/// leaves is on its way home, and the prefetch can be tried again when it is there.
bool Evictor::spare_for(DatumId wanted, Bytes bytes, MemoryNode& node) {
  if (node.leaving_bytes > 0) return false;
  LeastRecentlyUsed candidates(memory_, node);
  const DatumId id = memory_.policy_->spare(node.id, wanted, candidates);
  if (index(id) >= memory_.data_.size() || id == wanted) return false;
  Replica& replica = memory_.usable(id, node);
  // One that is too small would leave for nothing.
  if (!candidates.acceptable(replica) || replica.block.bytes < node.space.rounded(bytes)) return false;
  leave(replica, node);
  return replica.state == ReplicaState::absent;
}

/// One that others hold as well goes, if its space alone is enough: none goes in vain.
bool Evictor::drop_for(Bytes bytes, MemoryNode& node) {
  const Bytes needed = node.space.rounded(bytes);
  if (LeastRecentlyUsed(memory_, node, needed).next() == no_id<DatumId>) return false;  // as most often
  leave(*victim(node, needed), node);
  return true;
}

void Evictor::leave(Replica& replica, MemoryNode& node) {
  ++node.evictions;
  Datum& datum = memory_.data_[replica.datum];
  if (memory_.another_holds(datum, replica) || memory_.mistake_.is(Mistake::dirty_dropped)) {
    memory_.drop(replica, DropReason::evicted);
    return;
  }
  node.may_leave.remove(replica);
  replica.state = ReplicaState::leaving;
  node.leaving_bytes += replica.block.bytes;
  if (memory_.tell_residency_)
    memory_.policy_->dropped(replica.datum, node.id, DropReason::evicted);  // as good as gone
  // On the way home it may stay in a cache that has space for it now; nobody waits for such space (rule 5).
  const NodeId through = memory_.routes_.between(node.id, datum.home.node).through;
  Replica* const refuge = through == no_id<NodeId> ? nullptr : space_on_the_way(datum, through);
  memory_.enqueue(memory_.make_copy(replica, refuge != nullptr ? *refuge : datum.home, Cause::eviction));
}

Replica* Evictor::space_on_the_way(Datum& datum, NodeId through) {
  MemoryNode& node = memory_.nodes_[index(through)];
  if (memory_.reaches(through, datum.home.node)) return nullptr;  // there it is used in its home only
  Replica& replica = memory_.data_.cached_on(datum.home.datum, through);
  if (replica.state != ReplicaState::absent || node.claimant != nullptr || datum.removed) return nullptr;
  auto range = node.space.allocate(datum.bytes);
  if (!range && make_room(Purpose::passing, node, {&datum.bytes, 1}, datum.home.datum))
    range = node.space.allocate(datum.bytes);
  if (!range) return nullptr;
  memory_.occupy(replica, node, *range);
  return &replica;
}

}  // namespace fairlead::memory
