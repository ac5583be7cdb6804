// Admission: a task gets all the memory it needs on one node in one step, or holds nothing (rules 1, 2, 6, 7,
// 11).
#include <algorithm>

#include "base/check.hpp"
#include "memory/memory.hpp"

namespace fairlead::memory {

namespace {
constexpr std::uint32_t passes_allowed = 64;
}

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

Admission Memory::admit(Task& task, NodeId node_id, bool first) {
  MemoryNode& node = nodes_[index(node_id)];
  ensure(task.state != TaskState::admitted && task.state != TaskState::staged, "a task is admitted once");
  for (const Access& access : task.accesses()) {
    if (access.mode == AccessMode::commutative || access.mode == AccessMode::reduction) {
      if (data_[access.datum].token_holder != nullptr && bug_ != PlantedBug::token_ignored)
        return Admission::token_taken;
    }
    const Replica& replica = usable(access.datum, node);
    const bool settled = replica.state == ReplicaState::valid || replica.state == ReplicaState::leaving;
    if (replica.outgoing != nullptr && settled && reads(access.mode) &&
        replica.version != data_[access.datum].version && bug_ != PlantedBug::leaving_revived_stale)
      return Admission::being_read;
  }
  const Bytes newly_pinned = find_needs(task, node);
  const bool claims = node.claimant == &task;
  const bool another_claims = node.claimant != nullptr && !claims && bug_ != PlantedBug::claimant_ignored;
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
    node.freed = true;  // for those whom the claim has kept out
  }
  take(task, node);
  return Admission::admitted;
}

Bytes Memory::find_needs(const Task& task, const MemoryNode& node) {
  Bytes newly_pinned = 0;
  sizes_.clear();
  for (const Access& access : task.accesses()) {
    const Replica& replica = usable(access.datum, node);
    if (!nodes_[index(replica.node)].is_cache) continue;
    if (replica.state == ReplicaState::absent) {
      sizes_.push_back(data_[access.datum].bytes);
      newly_pinned += node.space.rounded(sizes_.back());
    } else if (replica.task_pins == 0) {
      newly_pinned += replica.block.bytes;
    }
  }
  return newly_pinned;
}

void Memory::forget_claim(Task& task) {
  for (MemoryNode& node : nodes_)
    if (node.claimant == &task) {
      node.claimant = nullptr;
      node.freed = true;
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
    Replica& replica = usable(access.datum, node);
    if (replica.in_list && bug_ != PlantedBug::own_data_evicted) {
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
    if (id != no_id<DatumId> && !candidates.acceptable(usable(id, node)))
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
  return fits;
}

/// Makes an unpinned replica give up its space: at once if somebody else holds the same, else by way of its
/// home.
void Memory::leave(Replica& replica, MemoryNode& node) {
  ++node.evictions;
  Datum& datum = data_[replica.datum];
  if (another_holds(datum, replica) || bug_ == PlantedBug::dirty_dropped) {
    drop(replica, DropReason::evicted);
    return;
  }
  node.may_leave.remove(replica);
  replica.state = ReplicaState::leaving;
  node.leaving_bytes += replica.block.bytes;
  if (tell_residency_) policy_->dropped(replica.datum, node.id, DropReason::evicted);  // as good as gone
  enqueue(make_copy(replica, datum.home, Cause::eviction));
}

/// Prefetches to this node give their space back, and those from it let go of their sources; except what the
/// task itself needs.
void Memory::revoke_prefetches(MemoryNode& node, const Task& for_task) {
  for (Copy& copy : copies_) {
    if (copy.to == nullptr || copy.revoked) continue;
    if (std::ranges::find(for_task.accesses(), copy.datum, &Access::datum) != for_task.accesses().end())
      continue;
    if (copy.cause == Cause::prefetch && copy.state == Copy::State::queued && copy.from->node == node.id) {
      take_back(copy);
      continue;
    }
    if (copy.to->node != node.id || copy.to->task_pins != 0) continue;
    if (copy.to->state != ReplicaState::arriving) continue;
    if (copy.state == Copy::State::queued) {
      take_back(copy);
    } else {
      copy.revoked = true;
      node.revoked_bytes += copy.to->block.bytes;
    }
  }
}

void Memory::take(Task& task, MemoryNode& node) {
  task.node = node.id;
  task.pending_copies = 0;
  task.state = TaskState::admitted;
  for (Access& access : task.accesses()) take_access(task, access, node);
}

void Memory::take_access(Task& task, Access& access, MemoryNode& node) {
  Datum& datum = data_[access.datum];
  Replica& replica = usable(access.datum, node);
  const bool in_place = &replica == &datum.home;
  ensure(datum.writers == 0, "a task is admitted after those that change what it uses");
  replica.prefetched = false;
  replica.taken_back = 0;
  if (access.mode == AccessMode::commutative || access.mode == AccessMode::reduction)
    datum.token_holder = &task;

  if (in_place) {
    pin(replica, node);
    access.address = replica.address;
    if (replica.arriving != nullptr) {
      wait_for(task, *replica.arriving);  // also to write: what lands late would cover what is written
    } else if (datum.dirty() && reads(access.mode)) {
      if (const Replica* holder = source_of(datum, &replica)) {
        Copy& copy = make_copy(*const_cast<Replica*>(holder), replica, Cause::demand);
        wait_for(task, copy);
        enqueue(copy);
      }
    }
  } else {
    switch (replica.state) {
      case ReplicaState::absent: {
        const auto range = node.space.allocate(datum.bytes);
        ensure(range.has_value(), "a task is admitted only where all it needs fits");
        replica.block = *range;
        node.peak_bytes = std::max(node.peak_bytes, node.space.used_bytes());
        replica.version = 0;
        replica.state = ReplicaState::valid;
        pin(replica, node);
        if (tell_residency_) policy_->reserved(replica.datum, node.id);
        const Replica* source = reads(access.mode) ? source_of(datum, &replica) : nullptr;
        if (source != nullptr) {
          Copy& copy = make_copy(*const_cast<Replica*>(source), replica, Cause::demand);
          wait_for(task, copy);
          enqueue(copy);
        } else if (tell_residency_) {
          policy_->loaded(replica.datum, node.id);
        }
        break;
      }
      case ReplicaState::arriving: {
        pin(replica, node);
        Copy& copy = *replica.arriving;
        if (copy.revoked) {  // wanted after all
          copy.revoked = false;
          node.revoked_bytes -= replica.block.bytes;
        }
        if (bug_ != PlantedBug::arriving_not_joined) wait_for(task, copy);
        if (copy.cause == Cause::prefetch && copy.state == Copy::State::queued &&
            bug_ != PlantedBug::arriving_not_joined) {
          unqueue(copy);  // no longer something that can wait
          Copy& urgent = make_copy(*const_cast<Replica*>(source_of(datum, &replica)), replica, Cause::demand);
          urgent.waiters.assign(1, &task);
          enqueue(urgent);
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
        if (reads(access.mode) && replica.version != datum.version &&
            bug_ != PlantedBug::leaving_revived_stale) {
          // Written elsewhere since; only the copies that still read it have kept it here.
          if (const Replica* source = source_of(datum, &replica)) {
            Copy& copy = make_copy(*const_cast<Replica*>(source), replica, Cause::demand);
            wait_for(task, copy);
            enqueue(copy);
          }
        }
        break;
    }
    access.address = node.base + replica.block.offset;
  }
  access.packed = !in_place;
  if (!writes(access.mode)) return;
  ++datum.writers;
  // A replica that is being read by a copy may not change under it.
  if (bug_ == PlantedBug::writer_ignores_write_back) return;
  for (Copy* copy = replica.outgoing; copy != nullptr;) {
    Copy* following = copy->next_outgoing;
    if (copy->cause == Cause::prefetch && copy->state == Copy::State::queued) {
      take_back(*copy);
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
  if (id == no_id<DatumId> || id == wanted) return false;
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
  if (datum.writers != 0) return false;
  if (node.prefetching_bytes + datum.bytes > node.space.capacity() / prefetch_share) return false;
  Replica& replica = data_.cached_on(id, node_id);
  if (replica.state != ReplicaState::absent || replica.taken_back >= 2) return false;
  const Replica* source = source_of(datum, &replica);
  if (source == nullptr) return false;
  auto range = node.space.allocate(datum.bytes);
  if (!range && spare_for(id, datum.bytes, node)) range = node.space.allocate(datum.bytes);
  if (!range) return false;
  replica.block = *range;
  replica.prefetched = true;
  node.prefetching_bytes += range->bytes;
  node.peak_bytes = std::max(node.peak_bytes, node.space.used_bytes());
  if (tell_residency_) policy_->reserved(id, node_id);
  enqueue(make_copy(*const_cast<Replica*>(source), replica, Cause::prefetch));
  return true;
}

}  // namespace fairlead::memory
