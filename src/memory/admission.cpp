// See admission.hpp.
#include "memory/admission.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace fairlead::memory {

namespace {
constexpr std::uint32_t passes_allowed = 64;

/// True if the task reads the current value. An empty partial result has none: the task starts from the neutral
/// element.
bool needs_value(const Access& access) noexcept { return reads(access.mode) && !access.fresh; }
}  // namespace

Admission Admitter::admit(Task& task, NodeId node_id, bool first, Effects& effects) {
  MemoryNode& node = state_.node(node_id);
  ensure(task.state != TaskState::admitted && task.state != TaskState::staged, "a task is admitted once");
  for (Access& access : task.accesses()) {
    if (access.mode == AccessMode::commutative) {
      if (state_.data[access.datum].token_holder != nullptr && !state_.mistake.is(Mistake::token_ignored))
        return Admission::token_taken;
    } else if (access.mode == AccessMode::reduction) {
      if (!reductions_.choose_target(access, node)) return Admission::token_taken;
    }
    const DatumId id = state_.target(access);
    const Replica& replica = state_.usable(task, access, node);
    const bool settled = replica.state == ReplicaState::valid || replica.state == ReplicaState::evicting;
    if (replica.outgoing != nullptr && settled && needs_value(access) &&
        replica.version != state_.data[id].version && !state_.mistake.is(Mistake::leaving_revived_stale))
      return Admission::source_in_use;
  }
  if (task.uses_home()) {  // uses no space of this node: no other task can block it
    take(task, node, effects);
    return Admission::admitted;
  }
  const Bytes newly_pinned = find_needs(task, node);
  const bool claims = node.claimant == &task;
  const bool another_claims = node.claimant != nullptr && !claims && !task.passes_claims() &&
                              !state_.mistake.is(Mistake::claimant_ignored);
  if (!first && !claims && node.pinned_bytes + newly_pinned > node.space->capacity() / 2)
    return Admission::over_pipeline_share;
  if (another_claims && (!sizes_.empty() || node.passed_claimant >= passes_allowed))
    return Admission::no_space;
  if (!sizes_.empty() && !make_room(task, node, effects)) {
    if (node.claimant == nullptr) {
      node.claimant = &task;
      node.passed_claimant = 0;
    }
    return Admission::no_space;
  }
  if (another_claims) ++node.passed_claimant;
  if (claims) {
    node.claimant = nullptr;
    state_.note_change();  // tasks that the claim blocked may fit now
  }
  take(task, node, effects);
  return Admission::admitted;
}

Bytes Admitter::find_needs(const Task& task, const MemoryNode& node) {
  Bytes newly_pinned = 0;
  sizes_.clear();
  for (const Access& access : task.accesses()) {
    const Replica& replica = state_.usable(task, access, node);
    if (!state_.in_cache(replica)) continue;
    if (replica.state == ReplicaState::absent) {
      sizes_.push_back(state_.data[access.datum].bytes);
      newly_pinned += node.space->rounded(sizes_.back());
    } else if (replica.task_pins == 0) {
      newly_pinned += replica.block->bytes;
    }
  }
  if (task.scratch_bytes != 0) {
    sizes_.push_back(task.scratch_bytes);
    newly_pinned += node.space->rounded(task.scratch_bytes);
  }
  return newly_pinned;
}

void Admitter::forget_claim(Task& task) {
  for (MemoryNode& node : state_.nodes)
    if (node.claimant == &task) {
      node.claimant = nullptr;
      state_.note_change();
    }
}

bool Admitter::waits_for_token(const Task& task) const {
  return std::ranges::any_of(task.accesses(), [&](const Access& access) {
    if (access.mode == AccessMode::read || state_.data[access.datum].token_holder == nullptr) return false;
    return access.mode != AccessMode::reduction || reductions_.all_taken(access);
  });
}

/// Evicts replicas until `sizes_` can be allocated at once. False if copies must end first, or if space is missing.
bool Admitter::make_room(const Task& task, MemoryNode& node, Effects& effects) {
  if (node.space->can_allocate(sizes_)) return true;
  // Data that the task itself uses are no victims: they leave the list during the search.
  own_.clear();
  for (const Access& access : task.accesses()) {
    Replica& replica = state_.usable(task, access, node);
    if (replica.in_list && !state_.mistake.is(Mistake::own_data_evicted)) {
      coherence_.remove_victim(replica);
      own_.push_back(&replica);
    }
  }
  bool fits = evictor_.make_room(Purpose::task, node, sizes_, effects);
  if (!fits && !Evictor::space_pending(node)) {
    transfers_.revoke_prefetches(node, task);
    find_needs(task, node);  // revoking a prefetch may have dropped an old replica that the task uses
    fits = node.space->can_allocate(sizes_);
    if (!fits && !Evictor::space_pending(node) && node.pinned_bytes == 0) {
      // The only obstacle left is the placement of the task's own replicas. The arena drains (rule 11).
      for (Replica* replica : own_) {
        if (!state_.may_leave(state_.data[replica->datum], *replica)) continue;
        if (!replica->in_list) coherence_.add_victim(*replica);
        evictor_.evict(*replica, node, effects);
      }
    }
  }
  for (Replica* replica : own_)
    if (replica->state == ReplicaState::valid && !replica->in_list) coherence_.add_victim(*replica);
  if (!fits && !Evictor::space_pending(node)) fast_path_.note_refusal(node);
  return fits;
}

void Admitter::take(Task& task, MemoryNode& node, Effects& effects) {
  task.node = node.id;
  task.pending_copies = 0;
  task.state = TaskState::admitted;
  for (Access& access : task.accesses()) take_access(task, access, node, effects);
  if (task.scratch_bytes != 0)
    ensure(coherence_.take_scratch(task, node), "a task is admitted only where its scratch fits");
}

/// Starts a copy of the newest version for the task. False if no valid replica exists.
bool Admitter::request_copy(Datum& datum, Replica& to, Task& task, Effects& effects) {
  Replica* const source = transfers_.source_for(datum, to, Cause::demand);
  if (source == nullptr) return false;
  Copy& copy = transfers_.make(*source, to, Cause::demand);
  if (state_.in_cache(to)) evictor_.keep_staging_replica(copy, effects);
  transfers_.wait_for(task, copy);
  transfers_.enqueue(copy, effects);
  return true;
}

void Admitter::take_access(Task& task, Access& access, MemoryNode& node, Effects& effects) {
  const DatumId id = state_.target(access);
  Datum& datum = state_.data[id];
  Replica& replica = state_.usable(task, access, node);
  const bool in_place = &replica == &datum.home;
  ensure(datum.writers == 0, Admitter::in_order);
  coherence_.used(replica);
  if (writes_in_any_order(access.mode)) datum.token_holder = &task;
  if (access.partial != 0) state_.partials.note_use(state_.data[access.datum], access.partial - 1u);

  if (in_place) {
    coherence_.pin(replica, node);
    access.address = replica.address;
    if (replica.arriving != nullptr) {
      // A task that only writes waits too: a copy that arrives later would overwrite its result.
      transfers_.wait_for(task, *replica.arriving);
    } else if (datum.dirty() && needs_value(access)) {
      request_copy(datum, replica, task, effects);
    }
  } else {
    switch (replica.state) {
      case ReplicaState::absent:
        ensure(coherence_.reserve(replica, node, ReplicaState::valid),
               "a task is admitted only where all it needs fits");
        coherence_.pin(replica, node);
        if (!(needs_value(access) && request_copy(datum, replica, task, effects)))
          coherence_.notify_loaded(replica);
        break;
      case ReplicaState::in_flight:
        coherence_.pin(replica, node);
        join_copy(task, datum, replica, effects);
        break;
      case ReplicaState::evicting:
        coherence_.cancel_eviction(replica);  // the copy in flight makes it clean
        [[fallthrough]];
      case ReplicaState::valid:
        coherence_.pin(replica, node);
        if (needs_value(access) && replica.version != datum.version &&
            !state_.mistake.is(Mistake::leaving_revived_stale))
          // old: the datum was written elsewhere, and only copies that read this replica kept it
          request_copy(datum, replica, task, effects);
        break;
    }
    access.offset = replica.block->offset;
  }
  access.in_place = in_place;
  access.is_packed_copy = !in_place || datum.is_partial;
  if (!writes(access.mode)) return;
  ++datum.writers;
  if (!state_.mistake.is(Mistake::writer_ignores_write_back)) wait_for_readers(task, replica);
}

/// The task needs a replica to which a copy is queued or in flight, or that such a copy passes.
void Admitter::join_copy(Task& task, Datum& datum, Replica& replica, Effects& effects) {
  Copy& copy = *replica.arriving;
  const bool passes = copy.via == &replica;  // the copy's destination is another node
  transfers_.want(replica);
  if (state_.mistake.is(Mistake::arriving_not_joined)) return;
  if (state_.mistake.is(Mistake::passed_not_joined) && passes) return;
  if (copy.cause != Cause::prefetch || copy.state == Copy::State::in_flight)
    return transfers_.wait_for(task, copy);
  // The queued prefetch becomes a demand copy.
  passes ? transfers_.forget_via(copy) : transfers_.unqueue(copy);
  ensure(request_copy(datum, replica, task, effects), "the datum of a queued prefetch has a valid replica");
}

/// A task may not write a replica while a copy reads it.
void Admitter::wait_for_readers(Task& task, Replica& replica) {
  for (Copy* copy = replica.outgoing; copy != nullptr;) {
    Copy* const following = copy->next_outgoing;
    if (copy->cause == Cause::prefetch && transfers_.may_abandon(*copy)) {
      transfers_.abandon(*copy, DropReason::prefetch_cancelled);
    } else {
      transfers_.wait_for(task, *copy);
    }
    copy = following;
  }
}

void Admitter::release(Task& task, TaskOutcome outcome, Effects& effects) {
  MemoryNode& node = state_.node(task.node);
  for (Access& access : task.accesses()) {
    const DatumId id = state_.target(access);
    Datum& datum = state_.data[id];
    Replica& replica = state_.usable(task, access, node);
    if (writes(access.mode)) --datum.writers;
    if (datum.token_holder == &task) datum.token_holder = nullptr;
    if (outcome == TaskOutcome::returned && access.fresh)
      state_.partials.note_empty(datum, id);  // the task has added nothing
    if (outcome != TaskOutcome::succeeded && task.pending_copies != 0)
      transfers_.forget_waiter(task, replica);
    if (writes(access.mode) && outcome != TaskOutcome::returned) {
      if (replica.state != ReplicaState::in_flight) transfers_.written(datum, replica);
      if (access.mode == AccessMode::write) reductions_.replaced(datum);
      const bool vanished = state_.is_lost(replica.node) && !state_.mistake.is(Mistake::lost_results_kept);
      if (outcome == TaskOutcome::succeeded && !vanished) {
        if (access.mode == AccessMode::write) poison_.clear(datum);
      } else {
        if (outcome == TaskOutcome::succeeded) {  // a late report: the device was lost before
          poison_.lose(id, replica.node);
          poison_.lose(access.datum, replica.node);
        }
        poison_.mark(id);
        poison_.mark(access.datum);  // the datum lacks what the partial result should have added
        coherence_.home_has(datum, datum.version);  // there is no value to write back
      }
    }
    flushes_.written(datum, effects);
    if (state_.mistake.is(Mistake::pin_forgotten) && index(task.id) % 16 == 7) continue;
    coherence_.unpin(replica, node);
  }
  if (task.scratch_bytes != 0) coherence_.give_scratch_back(task, node);
  task.pending_copies = 0;
  state_.note_change();  // also if the task held nothing: the task behind it may be first in the pipeline now
}

void Admitter::view_switched(const Task& task) {
  for (const Access& access : task.accesses())
    state_.data[access.datum].out_of_view = access.mode == AccessMode::read_write;
}

void Admitter::hold(Task& admitted) {
  MemoryNode& node = state_.node(admitted.node);
  for (const Access& access : admitted.accesses()) coherence_.hold(state_.usable(access.datum, node), node);
  state_.note_change();  // tasks pin fewer bytes now
}

void Admitter::unhold(Task& held) {
  MemoryNode& node = state_.node(held.node);
  for (const Access& access : held.accesses()) coherence_.unhold(state_.usable(access.datum, node), node);
}

}  // namespace fairlead::memory
