// Admission: a task gets all the memory it needs on one node in one step, or holds nothing (rules 1, 2, 6, 7,
// 11).
#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "memory/memory.hpp"

namespace fairlead::memory {

namespace {
constexpr std::uint32_t passes_allowed = 64;

/// A partial result to which nothing has been added has no value: the task begins with what changes nothing.
bool needs_value(const Access& access) noexcept { return reads(access.mode) && !access.fresh; }
}  // namespace

/// Walks the list of replicas that may leave, oldest first. Skips those whose version cannot go home now.
class Memory::LeastRecentlyUsed final : public Candidates {
 public:
  LeastRecentlyUsed(const Memory& memory, const MemoryNode& node)
      : memory_(memory), next_(node.may_leave.oldest()) {}

  bool acceptable(const Replica& replica) const {
    const Datum& datum = memory_.data_[replica.datum];
    return replica.in_list && memory_.may_leave(datum, replica);
  }
  DatumId next() override {
    while (next_ != nullptr) {
      const Replica& replica = *next_;
      next_ = replica.newer;
      if (acceptable(replica)) return replica.datum;
    }
    return no_id<DatumId>;
  }

 private:
  const Memory& memory_;
  Replica* next_;
};

/// The replica that a task on this node uses: the home where it is reached in place, else the node's own.
Replica& Memory::usable(DatumId id, const MemoryNode& node) {
  Datum& datum = data_[id];
  if (((node.reaches >> index(datum.home.node)) & 1) != 0) return datum.home;
  return data_.cached_on(id, node.id);
}

Replica& Memory::usable(const Task& task, const Access& access, const MemoryNode& node) {
  if (task.role == TaskRole::view_switch) return data_[access.datum].home;
  return usable(target(access), node);
}

Admission Memory::admit(Task& task, NodeId node_id, bool first) {
  MemoryNode& node = nodes_[index(node_id)];
  ensure(task.state != TaskState::admitted && task.state != TaskState::staged, "a task is admitted once");
  for (Access& access : task.accesses()) {
    if (access.mode == AccessMode::commutative) {
      if (data_[access.datum].token_holder != nullptr && !mistake_.is(Mistake::token_ignored))
        return Admission::token_taken;
    } else if (access.mode == AccessMode::reduction) {
      if (!choose_target(access, node)) return Admission::token_taken;
    }
    const DatumId id = target(access);
    const Replica& replica = usable(task, access, node);
    const bool settled = replica.state == ReplicaState::valid || replica.state == ReplicaState::leaving;
    if (replica.outgoing != nullptr && settled && needs_value(access) &&
        replica.version != data_[id].version && !mistake_.is(Mistake::leaving_revived_stale))
      return Admission::being_read;
  }
  if (task.role == TaskRole::view_switch) {  // no space here: it is in nobody's way, and nobody in its
    take(task, node);
    return Admission::admitted;
  }
  const Bytes newly_pinned = find_needs(task, node);
  const bool claims = node.claimant == &task;
  const bool another_claims = node.claimant != nullptr && !claims && !mistake_.is(Mistake::claimant_ignored);
  if (!first && !claims && node.pinned_bytes + newly_pinned > node.space.capacity() / 2)
    return Admission::over_share;
  if (another_claims && (!sizes_.empty() || node.passed_claimant >= passes_allowed))
    return Admission::no_room;
  if (!sizes_.empty() && !make_room(task, node)) {
    if (node.claimant == nullptr) {
      node.claimant = &task;
      node.passed_claimant = 0;
    }
    return Admission::no_room;
  }
  if (another_claims) ++node.passed_claimant;
  if (claims) {
    node.claimant = nullptr;
    note_change();  // for those whom the claim has kept out
  }
  take(task, node);
  return Admission::admitted;
}

Bytes Memory::find_needs(const Task& task, const MemoryNode& node) {
  Bytes newly_pinned = 0;
  sizes_.clear();
  for (const Access& access : task.accesses()) {
    const Replica& replica = usable(task, access, node);
    if (!nodes_[index(replica.node)].is_cache) continue;
    if (replica.state == ReplicaState::absent) {
      sizes_.push_back(data_[access.datum].bytes);
      newly_pinned += node.space.rounded(sizes_.back());
    } else if (replica.task_pins == 0) {
      newly_pinned += replica.block.bytes;
    }
  }
  if (task.scratch_bytes != 0) {
    sizes_.push_back(task.scratch_bytes);
    newly_pinned += node.space.rounded(task.scratch_bytes);
  }
  return newly_pinned;
}

void Memory::forget_claim(Task& task) {
  for (MemoryNode& node : nodes_)
    if (node.claimant == &task) {
      node.claimant = nullptr;
      note_change();
    }
}

/// Makes replicas leave until `sizes_` can be had at once. False if that needs copies to end first.
bool Memory::make_room(const Task& task, MemoryNode& node) {
  if (node.space.can_allocate(sizes_)) return true;
  Bytes need = 0;
  for (const Bytes bytes : sizes_) need += node.space.rounded(bytes);

  // What the task itself uses may not leave for it: out of the list while we look.
  own_.clear();
  for (const Access& access : task.accesses()) {
    Replica& replica = usable(task, access, node);
    if (replica.in_list && !mistake_.is(Mistake::own_data_evicted)) {
      node.may_leave.remove(replica);
      own_.push_back(&replica);
    }
  }
  const auto coming = [&] { return node.leaving_bytes + node.revoked_bytes; };
  bool fits = false;
  for (;;) {
    fits = node.space.can_allocate(sizes_);
    // Enough is on its way out already: more would leave for nothing.
    if (fits || (coming() > 0 && node.space.free_bytes() + coming() >= need)) break;
    LeastRecentlyUsed candidates(*this, node);
    DatumId id = policy_->victim(node.id, candidates);
    // A policy that names none of them must not keep others waiting.
    if (index(id) >= data_.size() || !candidates.acceptable(usable(id, node)))
      id = LeastRecentlyUsed(*this, node).next();
    if (id == no_id<DatumId>) break;
    leave(usable(id, node), node);
  }
  if (!fits && coming() == 0) {
    revoke_prefetches(node, task);
    find_needs(task, node);  // an old copy of what it uses may have gone with the prefetch that read it
    fits = node.space.can_allocate(sizes_);
    if (!fits && coming() == 0 && node.pinned_bytes == 0) {
      // Nothing else is left: what the task has itself lies in the way of what it lacks. The arena drains
      // (rule 11).
      for (Replica* replica : own_) {
        if (!may_leave(data_[replica->datum], *replica)) continue;
        if (!replica->in_list) node.may_leave.append(*replica);
        leave(*replica, node);
      }
    }
  }
  for (Replica* replica : own_)
    if (replica->state == ReplicaState::valid && !replica->in_list) node.may_leave.append(*replica);
  lane_is_in_the_way_ |= !fits && coming() == 0 && node.lane_bytes != 0;
  return fits;
}

/// Makes an unpinned replica give up its space: at once if somebody else holds the same, else by way of its
/// home.
void Memory::leave(Replica& replica, MemoryNode& node) {
  ++node.evictions;
  Datum& datum = data_[replica.datum];
  if (another_holds(datum, replica) || mistake_.is(Mistake::dirty_dropped)) {
    drop(replica, DropReason::evicted);
    return;
  }
  node.may_leave.remove(replica);
  replica.state = ReplicaState::leaving;
  node.leaving_bytes += replica.block.bytes;
  if (tell_residency_) policy_->dropped(replica.datum, node.id, DropReason::evicted);  // as good as gone
  // On the way home it may stay in a cache that has space for it now; nobody waits for such space (rule 5).
  const NodeId through = routes_.between(node.id, datum.home.node).through;
  Replica* const refuge = through == no_id<NodeId> ? nullptr : space_on_the_way(datum, through);
  enqueue(make_copy(replica, refuge != nullptr ? *refuge : datum.home, Cause::eviction));
}

/// Space on a cache that a copy of the datum passes, if it can be had at once: free, or held by what others
/// hold as well and used longest ago. Null if not; nobody ever waits for it.
Replica* Memory::space_on_the_way(Datum& datum, NodeId through) {
  constexpr unsigned most_looked_at = 16;
  MemoryNode& node = nodes_[index(through)];
  if (reaches(through, datum.home.node)) return nullptr;  // there it is used in its home only
  Replica& replica = data_.cached_on(datum.home.datum, through);
  if (replica.state != ReplicaState::absent || node.claimant != nullptr || datum.removed) return nullptr;
  auto range = node.space.allocate(datum.bytes);
  Replica* candidate = node.may_leave.oldest();
  for (unsigned looked = 0; !range && candidate != nullptr && looked < most_looked_at; ++looked) {
    Replica& old = *std::exchange(candidate, candidate->newer);
    if (old.prefetched || !another_holds(data_[old.datum], old)) continue;
    ++node.evictions;
    drop(old, DropReason::evicted);
    range = node.space.allocate(datum.bytes);
  }
  if (!range) return nullptr;
  occupy(replica, node, *range);
  return &replica;
}

/// Prefetches to this node give their space back, and those from it let go of their sources; except what the
/// task itself needs.
void Memory::revoke_prefetches(MemoryNode& node, const Task& for_task) {
  copies_.for_each([&](Copy& copy) {
    if (std::ranges::any_of(for_task.accesses(),
                            [&](const Access& access) { return target(access) == copy.datum; }))
      return;
    const bool queued = copy.state == Copy::State::queued;
    if (copy.via != nullptr && copy.via->node == node.id && copy.via->task_pins == 0 && !copy.via_revoked) {
      if (queued) {
        let_go_of_via(copy, DropReason::revoked);
      } else {
        copy.via_revoked = true;
        node.revoked_bytes += copy.via->block.bytes;
      }
    }
    if (queued && copy.via != nullptr && copy.via->task_pins != 0) return;
    if (copy.cause == Cause::prefetch && queued && copy.from->node == node.id) {
      abandon(copy, DropReason::revoked);
      return;
    }
    if (copy.revoked || copy.to->node != node.id || copy.to->task_pins != 0) return;
    if (copy.to->state != ReplicaState::arriving || copy.cause == Cause::eviction) return;
    if (queued) {
      abandon(copy, DropReason::revoked);
    } else {
      copy.revoked = true;
      node.revoked_bytes += copy.to->block.bytes;
    }
  });
}

void Memory::take(Task& task, MemoryNode& node) {
  task.node = node.id;
  task.pending_copies = 0;
  task.state = TaskState::admitted;
  for (Access& access : task.accesses()) take_access(task, access, node);
  if (task.scratch_bytes == 0) return;
  const auto range = node.space.allocate(task.scratch_bytes);
  ensure(range.has_value(), "a task is admitted only where its scratch fits");
  task.scratch = node.base + range->offset;
  node.pinned_bytes += range->bytes;
  node.scratch_bytes += range->bytes;
  node.peak_bytes = std::max(node.peak_bytes, node.space.used_bytes());
}

void Memory::give_scratch_back(Task& task, MemoryNode& node) {
  const Range range{static_cast<Bytes>(task.scratch - node.base), node.space.rounded(task.scratch_bytes)};
  node.space.release(range);
  node.pinned_bytes -= range.bytes;
  node.scratch_bytes -= range.bytes;
}

/// A copy of the newest version for the task, if anybody holds that.
bool Memory::bring(Datum& datum, Replica& to, Task& task) {
  const Replica* source = source_of(datum, to.node);
  if (source == nullptr) return false;
  Copy& copy = make_copy(*const_cast<Replica*>(source), to, Cause::demand);
  wait_for(task, copy);
  enqueue(copy);
  return true;
}

void Memory::take_access(Task& task, Access& access, MemoryNode& node) {
  const DatumId id = target(access);
  Datum& datum = data_[id];
  Replica& replica = usable(task, access, node);
  const bool in_place = &replica == &datum.home;
  ensure(datum.writers == 0, "a task is admitted after those that change what it uses");
  no_longer_unused(replica);
  replica.taken_back = 0;
  if (writes_in_any_order(access.mode)) datum.token_holder = &task;
  if (access.partial != 0) partials_.of(data_[access.datum])[access.partial - 1u].used = true;

  if (in_place) {
    pin(replica, node);
    access.address = replica.address;
    if (replica.arriving != nullptr) {
      wait_for(task, *replica.arriving);  // also to write: what lands late would cover what is written
    } else if (datum.dirty() && needs_value(access)) {
      bring(datum, replica, task);
    }
  } else {
    switch (replica.state) {
      case ReplicaState::absent: {
        const auto range = node.space.allocate(datum.bytes);
        ensure(range.has_value(), "a task is admitted only where all it needs fits");
        replica.version = 0;
        replica.state = ReplicaState::valid;
        occupy(replica, node, *range);
        pin(replica, node);
        if (!(needs_value(access) && bring(datum, replica, task)) && tell_residency_)
          policy_->loaded(replica.datum, node.id);
        break;
      }
      case ReplicaState::arriving: {
        pin(replica, node);
        Copy& copy = *replica.arriving;
        const bool passes = copy.via == &replica;                        // it is on its way to another node
        if (bool& revoked = passes ? copy.via_revoked : copy.revoked) {  // wanted after all
          revoked = false;
          node.revoked_bytes -= replica.block.bytes;
        }
        if (mistake_.is(Mistake::arriving_not_joined)) break;
        if (mistake_.is(Mistake::passed_not_joined) && passes) break;
        if (copy.cause == Cause::prefetch && copy.state == Copy::State::queued) {
          // No longer something that can wait.
          if (passes) {
            copy.via = nullptr;
          } else {
            unqueue(copy);
          }
          ensure(bring(datum, replica, task), "what was on its way is still somewhere");
        } else {
          wait_for(task, copy);
        }
        break;
      }
      case ReplicaState::leaving:
        replica.state = ReplicaState::valid;  // it stays; the copy that is under way makes it clean
        node.leaving_bytes -= replica.block.bytes;
        tell_back(replica);
        [[fallthrough]];
      case ReplicaState::valid:
        pin(replica, node);
        if (needs_value(access) && replica.version != datum.version &&
            !mistake_.is(Mistake::leaving_revived_stale))
          bring(datum, replica, task);  // written elsewhere since; only the copies that read it have kept it
        break;
    }
    access.address = node.base + replica.block.offset;
  }
  access.packed = !in_place || datum.is_partial;
  if (!writes(access.mode)) return;
  ++datum.writers;
  // A replica that is being read by a copy may not change under it.
  if (mistake_.is(Mistake::writer_ignores_write_back)) return;
  for (Copy* copy = replica.outgoing; copy != nullptr;) {
    Copy* following = copy->next_outgoing;
    if (copy->cause == Cause::prefetch && copy->state == Copy::State::queued) {
      abandon(*copy, DropReason::revoked);
    } else {
      wait_for(task, *copy);
    }
    copy = following;
  }
}

/// Makes leave what the policy values less than `wanted`. True if there is room for that at once; else what
/// leaves is on its way home, and the prefetch can be tried again when it is there.
bool Memory::spare_for(DatumId wanted, Bytes bytes, MemoryNode& node) {
  if (node.leaving_bytes > 0) return false;
  LeastRecentlyUsed candidates(*this, node);
  const DatumId id = policy_->spare(node.id, wanted, candidates);
  if (index(id) >= data_.size() || id == wanted) return false;
  Replica& replica = usable(id, node);
  // One that is too small would leave for nothing.
  if (!candidates.acceptable(replica) || replica.block.bytes < node.space.rounded(bytes)) return false;
  leave(replica, node);
  return replica.state == ReplicaState::absent;
}

bool Memory::prefetch(DatumId id, NodeId node_id) {
  MemoryNode& node = nodes_[index(node_id)];
  Datum& datum = data_[id];
  if (node.claimant != nullptr || reaches(node_id, datum.home.node) || datum.poisoned || datum.removed)
    return false;
  // A task may be changing it in place, while other copies of it are still current.
  if (datum.writers != 0 || datum.out_of_view) return false;
  if (node.prefetching_bytes + datum.bytes > node.space.capacity() / prefetch_share) return false;
  Replica& replica = data_.cached_on(id, node_id);
  if (replica.state != ReplicaState::absent || replica.taken_back >= 2) return false;
  const Replica* source = source_of(datum, node_id);
  // What has to be made would keep workers from tasks that are admitted.
  if (source == nullptr || made_from(datum, *source)) return false;
  auto range = node.space.allocate(datum.bytes);
  if (!range && spare_for(id, datum.bytes, node)) range = node.space.allocate(datum.bytes);
  if (!range) return false;
  replica.prefetched = true;
  node.prefetching_bytes += range->bytes;
  node.prefetched_bytes += range->bytes;
  occupy(replica, node, *range);
  enqueue(make_copy(*const_cast<Replica*>(source), replica, Cause::prefetch));
  return true;
}

}  // namespace fairlead::memory
