// See copy_completion.hpp.
#include "memory/copy_completion.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fairlead::memory {

void CopyCompletion::landed(Copy& copy, bool succeeded, Effects& effects) {
  const WayId way = transfers_.way_of(copy);
  transfers_.ended(copy);
  state_.note_change();
  const bool cut_off = !succeeded && state_.is_lost(copy.from->node);
  const bool ignored =
      state_.mistake.is(cut_off ? Mistake::cut_off_copy_served : Mistake::failed_copy_ignored);
  if (state_.is_lost(copy.to->node) || (cut_off && !ignored)) {
    transfers_.invalidate(copy);
    over(copy, effects);
  } else if (!succeeded && !ignored) {
    failed(copy, effects);
  } else {
    transfers_.count(copy);
    over(copy, effects);
  }
  transfers_.start_next(way, effects);
}

void CopyCompletion::over(Copy& copy, Effects& effects) {
  state_.in_cache(*copy.to) ? arrived(copy, effects) : came_home(copy, effects);
}

void CopyCompletion::cancel(Copy& copy, Effects& effects) {
  transfers_.invalidate(copy);
  over(copy, effects);
}

void CopyCompletion::fail_readers(Copy& copy, const std::exception_ptr& why, Effects& effects) {
  const auto reads_it = [&](const Task& task) {
    return std::ranges::any_of(task.accesses(), [&](const Access& access) {
      return state_.target(access) == copy.datum && reads(access.mode);
    });
  };
  for (Task* const task : copy.waiters.get())
    if (reads_it(*task) && task->failure == nullptr) fail(*task, why, effects);
}

/// A task at homes ends only after the last of its copies. Otherwise its successor would use the same memory while
/// later copies arrive there.
void CopyCompletion::fail(Task& task, const std::exception_ptr& why, Effects& effects) {
  task.failure = why;
  if (!task.uses_home()) effects.failed.push_back(&task);
}

void CopyCompletion::finish_wait(Task& task, Effects& effects) {
  if (--task.pending_copies != 0) return;
  if (task.failure == nullptr)
    effects.ready.push_back(&task);
  else if (task.uses_home())
    effects.failed.push_back(&task);
}

void CopyCompletion::serve_waiters(Copy& copy, Effects& effects) {
  for (Task* const task : copy.waiters.get()) finish_wait(*task, effects);
  transfers_.release_waiters(copy, [](const Task*) { return true; });
}

/// The arrived version is too old for the replica's readers: a new copy from the current holder serves them.
void CopyCompletion::retry_from_holder(Replica& replica, Copy& copy, Effects& effects) {
  const auto waits_elsewhere = [&](const Task* task) { return task->node != replica.node; };
  if (std::ranges::all_of(copy.waiters.get(), waits_elsewhere) || state_.is_lost(replica.node)) return;
  Datum& datum = state_.data[replica.datum];
  if (datum.poisoned) return;  // the datum was lost: its readers fail, and writers need no value
  Replica* const source = state_.source_of(datum, replica.node);
  if (source == nullptr) return;
  Copy& again = transfers_.make(*source, replica, Cause::demand);
  evictor_.keep_staging_replica(again, effects);
  transfers_.move_waiters(copy, again, waits_elsewhere);
  transfers_.enqueue(again, effects);
}

void CopyCompletion::reroute_readers(Replica& replica, Effects& effects) {
  for (Copy* copy = replica.outgoing; copy != nullptr;) {
    Copy* const following = copy->next_outgoing;
    if (copy->state == Copy::State::joined) {
      const Replica& to = *copy->to;
      // These tasks wait only until copies have read the replica, so they can go on.
      for (Task* const task : copy->waiters.get())
        if (task->node != to.node) finish_wait(*task, effects);
      transfers_.release_waiters(*copy, [&](const Task* task) { return task->node != to.node; });
      if (transfers_.may_abandon(*copy)) {
        transfers_.abandon(*copy, DropReason::prefetch_cancelled);
      } else {
        Replica* const source = state_.source_of(state_.data[copy->datum], to.node);
        ensure(source != nullptr, "a datum that a task reads has a valid replica");
        transfers_.change_source(*copy, *source);
        transfers_.enqueue(*copy, effects);
      }
    }
    copy = following;
  }
}

/// `unwanted`: the reason for a drop if the replica is unused. revoked: drop it even if it is current.
void CopyCompletion::settle_after(Replica& replica, DropReason unwanted) {
  // A new copy was made for it, or it was dropped already.
  if (replica.state == ReplicaState::in_flight || replica.state == ReplicaState::absent) return;
  if (!replica.pinned() && (unwanted == DropReason::prefetch_cancelled || replica.version == 0))
    return coherence_.drop(replica, unwanted);
  if (replica.version != 0) coherence_.notify_loaded(replica);
  coherence_.settle(replica);
}

void CopyCompletion::arrived(Copy& copy, Effects& effects) {
  Replica& replica = *copy.to;
  Replica* const via = copy.via;
  Datum& datum = state_.data[replica.datum];
  transfers_.no_longer_prefetching(copy);
  const bool old = copy.overtaken || copy.version != datum.version;
  const bool noticed = old && !state_.mistake.is(Mistake::overtaken_copy_served);
  transfers_.landed(copy, replica, noticed ? 0 : old ? datum.version.get() : copy.version.get());
  if (via != nullptr) transfers_.landed(copy, *via, old ? 0 : copy.version.get());
  transfers_.detach(copy);
  if (noticed) {
    retry_from_holder(replica, copy, effects);
    if (via != nullptr && via->version == 0) retry_from_holder(*via, copy, effects);
  }
  serve_waiters(copy, effects);
  if (replica.state != ReplicaState::in_flight)
    noticed ? reroute_readers(replica, effects) : transfers_.start_joined(replica, effects);
  const DropReason old_ones = copy.version == 0 ? DropReason::failed : DropReason::overwritten;
  settle_after(replica, copy.revoked ? DropReason::prefetch_cancelled : old_ones);
  if (via != nullptr) settle_after(*via, copy.via_revoked ? DropReason::prefetch_cancelled : old_ones);
  if (copy.cause == Cause::eviction) left(*copy.from);
  if (copy.cause == Cause::eviction && state_.mistake.is(Mistake::refuge_taken_for_home))
    coherence_.home_has(datum, datum.version);
  transfers_.give_back(copy);
}

/// The copy to the home or to a cache on the way has ended: its source is dropped, unless it is in use again.
void CopyCompletion::left(Replica& replica) {
  if (replica.state != ReplicaState::evicting) return;
  if (replica.pinned()) return coherence_.cancel_eviction(replica);
  coherence_.drop(replica, DropReason::evicted);
}

void CopyCompletion::came_home(Copy& copy, Effects& effects) {
  Datum& datum = state_.data[copy.datum];
  Replica& replica = *copy.from;
  transfers_.nothing_arrives(copy);
  const bool overtakes = state_.mistake.is(Mistake::write_back_overtakes);
  coherence_.home_has(
      datum, overtakes ? datum.version.get() : std::max(datum.home.version.get(), copy.version.get()));
  transfers_.detach(copy);
  // A task is changing the newest version, which may not be read now.
  const bool being_changed = datum.dirty() && copy.waiters->empty() && datum.writers != 0;
  if (being_changed) flushes_.wait_for_writer(copy, datum);
  Replica* newer = nullptr;
  if (datum.dirty() && !being_changed && (!copy.waiters->empty() || copy.counts_for_flush))
    newer = state_.source_of(datum, datum.home.node);
  if (newer != nullptr) {
    // The waiting tasks and the flush need a version that was written during the copy: copy it from its holder.
    Copy& again = transfers_.make(*newer, datum.home, copy.cause);
    transfers_.move_waiters(copy, again, [](const Task*) { return false; });
    flushes_.hand_over(copy, again);
    transfers_.enqueue(again, effects);
  }
  serve_waiters(copy, effects);
  left(replica);
  flushes_.landed(copy);
  transfers_.give_back(copy);
}

void CopyCompletion::try_again(Copy& copy, Effects& effects) {
  const Datum& datum = state_.data[copy.datum];
  Replica& replica = *copy.to;
  Replica* other = nullptr;
  // A task that changes the datum waits only for copies that already read its replica. So the source may change only
  // while no task changes the datum.
  if (datum.writers == 0 && state_.in_cache(replica) && copy.via == nullptr && copy.cause != Cause::eviction)
    for (Replica* holder = datum.cached; holder != nullptr; holder = holder->next_of_datum)
      if (holder != copy.from && holder != copy.to && holder->state == ReplicaState::valid &&
          holder->version == datum.version && !state_.is_lost(holder->node) &&
          state_.routes.between(holder->node, replica.node).exists())
        other = holder;
  if (other != nullptr) transfers_.change_source(copy, *other);
  if (!copy.waiters->empty() && copy.cause == Cause::prefetch) transfers_.make_urgent(copy);
  transfers_.enqueue(copy, effects);
}

std::exception_ptr CopyCompletion::failure_of(const Copy& copy) const {
  if (copy.failure != nullptr) return copy.failure;
  const auto name = [&](const Replica& at) { return state_.topology.nodes[index(at.node)].name; };
  return std::make_exception_ptr(SystemError(
      "copying " + state_.name_of(copy.datum) + " (" + std::to_string(copy.bytes) + " bytes) from " +
      name(*copy.from) + " to " + name(*copy.to) + " failed: " + std::strerror(copy.error_number)));
}

bool CopyCompletion::fail_waiters(Copy& copy, Effects& effects) {
  const Replica& replica = *copy.to;
  const bool to_cache = state_.in_cache(replica);
  const auto needs_it = [&](const Task& task) {
    if (task.uses_home()) return !to_cache;
    if (copy.via != nullptr && task.node == copy.via->node) return true;
    return to_cache ? task.node == replica.node : state_.reaches(task.node, replica.node);
  };
  bool to_be_seen = false;
  for (Task* const task : copy.waiters.get()) {
    to_be_seen |= !to_cache && task->uses_home();
    if (needs_it(*task) && task->failure == nullptr) fail(*task, failure_of(copy), effects);
    finish_wait(*task, effects);
  }
  transfers_.release_waiters(copy, [](const Task*) { return true; });
  return to_be_seen;
}

void CopyCompletion::failed(Copy& copy, Effects& effects) {
  Replica& replica = *copy.to;
  const bool to_cache = state_.in_cache(replica);
  // A generator would fail again. Data that differ from what was written (EBADMSG) cannot be trusted on a second
  // read, nor can anything else on that disk.
  const bool altered = copy.error_number == EBADMSG;
  if (transfers_.failed_again(copy) < 2 && !copy.revoked && copy.generator == nullptr && !altered)
    return try_again(copy, effects);
  const bool to_be_seen = fail_waiters(copy, effects);
  transfers_.nothing_arrives(copy);
  // The only valid replica could not be written back: it stays where it is, and the run must stop.
  if (copy.from->state == ReplicaState::evicting && (!to_cache || copy.cause == Cause::eviction))
    coherence_.cancel_eviction(*copy.from);
  if (copy.cause == Cause::eviction || copy.cause == Cause::flush || to_be_seen || altered) {
    effects.stop_error = copy.error_number;
    effects.stop_datum = copy.datum;
    effects.stop_failure = copy.failure;
  }
  if (to_cache) {
    Replica* const via = copy.via;
    transfers_.no_longer_prefetching(copy);
    transfers_.landed(copy, replica, 0);
    if (via != nullptr) transfers_.landed(copy, *via, 0);
    transfers_.detach(copy);
    coherence_.settle(replica);
    if (via != nullptr) coherence_.settle(*via);
    reroute_readers(replica, effects);
  } else {
    transfers_.detach(copy);
    flushes_.failed(copy, effects);
  }
  transfers_.give_back(copy);
}

}  // namespace fairlead::memory
