// Copies: made, queued per link, started a few at a time, and what follows when they end (rules 3 to 6;
// coherence).
#include <fairlead/error.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/check.hpp"
#include "memory/memory.hpp"

namespace fairlead::memory {

/// Where the newest version is read from: of the home, if it has it, and the settled replicas, the one from
/// which an idle link brings it soonest; null if nobody else has it.
const Replica* Memory::source_of(const Datum& datum, NodeId to) const noexcept {
  const Replica* best = nullptr;
  Duration least{};
  const auto consider = [&](const Replica& holder) {
    const Route& route = route_from(datum, holder, to);
    if (holder.node == to || holder.version != datum.version || !route.exists()) return;
    const Duration time = route.time(datum.bytes);
    if (best != nullptr && time >= least) return;
    best = &holder;
    least = time;
  };
  consider(datum.home);
  for (const Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum)
    if (replica->state == ReplicaState::valid || replica->state == ReplicaState::leaving) consider(*replica);
  return best;
}

/// Dropping the replica loses nothing: it is old, or its home or a settled replica has the same version.
bool Memory::another_holds(const Datum& datum, const Replica& replica) const noexcept {
  if (replica.version != datum.version || datum.home.version == datum.version) return true;
  for (const Replica* other = datum.cached; other != nullptr; other = other->next_of_datum)
    if (other != &replica && other->state == ReplicaState::valid && other->version == datum.version)
      return true;
  return false;
}

/// The replica can give up its space: by being dropped, or by way of a home to which nothing is under way and
/// in which no task works in place.
bool Memory::may_leave(const Datum& datum, const Replica& replica) const noexcept {
  return another_holds(datum, replica) ||
         (datum.home.arriving == nullptr && (datum.home.task_pins | datum.home.app_pins) == 0);
}

Copy& Memory::make_copy(Replica& from, Replica& to, Cause cause) {
  Copy* const copy = &copies_.take();
  const Datum& datum = data_[to.datum];
  copy->datum = to.datum;
  copy->from = &from;
  copy->to = &to;
  copy->generator = made_from(datum, from) ? datum.generator : nullptr;
  const Route& route = routes_.of(*copy);
  copy->link = route.link;
  copy->cause = cause;
  // In caches it is one block: from one to another it goes as it is.
  const bool between_caches = nodes_[index(from.node)].is_cache && nodes_[index(to.node)].is_cache;
  copy->layout = between_caches ? nullptr : datum.layout;
  copy->version = from.version;
  copy->bytes = datum.bytes;
  copy->next_outgoing = from.outgoing;
  from.outgoing = copy;
  if (!mistake_.is(Mistake::source_not_pinned)) {
    ++from.source_pins;
    if (from.in_list) nodes_[index(from.node)].may_leave.remove(from);
  }
  to.arriving = copy;
  if (!nodes_[index(to.node)].is_cache) return *copy;
  to.state = ReplicaState::arriving;
  if (route.through != no_id<NodeId> && cause != Cause::eviction) {
    copy->via = space_on_the_way(data_[to.datum], route.through);
    if (copy->via != nullptr) {
      copy->via->arriving = copy;
      copy->via->state = ReplicaState::arriving;
      copy->via->version = 0;
    }
  }
  return *copy;
}

void Memory::wait_for(Task& task, Copy& copy) {
  copy.waiters.push_back(&task);
  ++task.pending_copies;
}

void Memory::enqueue(Copy& copy) {
  links_.add(copy);
  links_.start(copy.link, effects.started);
}

/// Takes a copy back that the world has not heard of.
void Memory::unqueue(Copy& copy) {
  links_.remove(copy);
  detach(copy);
  copy.to->arriving = nullptr;
  no_longer_prefetching(copy);
  let_go_of_via(copy, DropReason::revoked);
  copies_.give_back(copy);
}

/// Takes a copy back that the world has not heard of and that nobody waits for, and gives up its space.
void Memory::abandon(Copy& copy, DropReason reason) {
  ensure(copy.waiters.empty(), "nobody waits for a copy that is given up");
  Replica &from = *copy.from, &to = *copy.to;
  unqueue(copy);
  if (nodes_[index(to.node)].is_cache) drop(to, reason);
  if (from.state == ReplicaState::leaving && !from.pinned()) drop(from, reason);
}

void Memory::let_go_of_via(Copy& copy, DropReason reason) {
  Replica* const via = std::exchange(copy.via, nullptr);
  if (via == nullptr) return;
  via->arriving = nullptr;
  // It was wanted back when it landed; then the copy failed, and waits to be tried once more.
  if (std::exchange(copy.via_revoked, false)) nodes_[index(via->node)].revoked_bytes -= via->block.bytes;
  drop(*via, reason);
}

void Memory::no_longer_prefetching(const Copy& copy) noexcept {
  if (copy.cause == Cause::prefetch) nodes_[index(copy.to->node)].prefetching_bytes -= copy.to->block.bytes;
}

/// The copy no longer reads its source.
void Memory::detach(Copy& copy) {
  Replica& from = *copy.from;
  Copy** link = &from.outgoing;
  while (*link != &copy) link = &(*link)->next_outgoing;
  *link = copy.next_outgoing;
  if (!mistake_.is(Mistake::source_not_pinned)) --from.source_pins;
  note_change();
  if (nodes_[index(from.node)].is_cache && from.state == ReplicaState::valid) settle(from);
}

void Memory::landed(Copy& copy, bool succeeded) {
  const LinkId link = copy.link;
  links_.ended(copy);
  note_change();
  if (!succeeded && !mistake_.is(Mistake::failed_copy_ignored)) {
    failed(copy);
  } else {
    links_.count(copy);
    if (nodes_[index(copy.to->node)].is_cache) {
      arrived(copy);
    } else {
      came_home(copy);
    }
  }
  links_.start(link, effects.started);
}

void Memory::serve_waiters(Copy& copy) {
  for (Task* task : copy.waiters)
    if (--task->pending_copies == 0) effects.landed.push_back(task);
  copy.waiters.clear();
}

/// The bytes of a copy are in the replica: at its end, or on its way.
void Memory::arrived_at(Replica& replica, const Copy& copy, bool& revoked, bool old) {
  if (revoked) nodes_[index(replica.node)].revoked_bytes -= replica.block.bytes;
  replica.arriving = nullptr;
  replica.state = ReplicaState::valid;
  replica.version = old ? 0 : copy.version;
}

/// What landed is not what its readers there need: they ask the new holder.
void Memory::ask_again(Replica& replica, Copy& copy) {
  const auto here = std::stable_partition(copy.waiters.begin(), copy.waiters.end(),
                                          [&](const Task* task) { return task->node != replica.node; });
  if (here == copy.waiters.end()) return;
  const Replica* source = source_of(data_[replica.datum], replica.node);
  if (source == nullptr) return;
  Copy& again = make_copy(*const_cast<Replica*>(source), replica, Cause::demand);
  again.waiters.assign(here, copy.waiters.end());
  copy.waiters.erase(here, copy.waiters.end());
  enqueue(again);
}

void Memory::settle_after(Replica& replica, bool revoked) {
  if (replica.state == ReplicaState::arriving) return;  // asked for again
  if (!replica.pinned() && (revoked || replica.version == 0)) {
    drop(replica, revoked ? DropReason::revoked : DropReason::overwritten);
    return;
  }
  if (tell_residency_ && replica.version != 0) policy_->loaded(replica.datum, replica.node);
  settle(replica);
}

void Memory::arrived(Copy& copy) {
  Replica& replica = *copy.to;
  Replica* const via = copy.via;
  const Datum& datum = data_[replica.datum];
  no_longer_prefetching(copy);
  const bool old = copy.overtaken || copy.version != datum.version;
  const bool noticed = old && !mistake_.is(Mistake::overtaken_copy_served);
  arrived_at(replica, copy, copy.revoked, noticed);
  if (old && !noticed) replica.version = datum.version;
  if (via != nullptr) {
    arrived_at(*via, copy, copy.via_revoked, old);
  }
  detach(copy);
  if (noticed) {
    ask_again(replica, copy);
    if (via != nullptr && via->version == 0) ask_again(*via, copy);
  }
  serve_waiters(copy);
  settle_after(replica, copy.revoked);
  if (via != nullptr) settle_after(*via, copy.via_revoked);
  if (copy.cause == Cause::eviction) left(*copy.from);
  if (copy.cause == Cause::eviction && mistake_.is(Mistake::refuge_taken_for_home))
    data_[copy.datum].home.version = datum.version;
  copies_.give_back(copy);
}

void Memory::left(Replica& replica) {
  if (replica.state != ReplicaState::leaving) return;
  if (!replica.pinned()) return drop(replica, DropReason::evicted);
  nodes_[index(replica.node)].leaving_bytes -= replica.block.bytes;  // others still read it
  replica.state = ReplicaState::valid;
  tell_back(replica);
}

void Memory::came_home(Copy& copy) {
  Datum& datum = data_[copy.datum];
  Replica& replica = *copy.from;
  datum.home.arriving = nullptr;
  if (mistake_.is(Mistake::write_back_overtakes)) {
    datum.home.version = datum.version;
  } else {
    datum.home.version = std::max(datum.home.version, copy.version);
  }
  detach(copy);
  // The newest is being changed, and may not be read now: a flush waits for it, a refresh does not.
  const bool being_changed = datum.dirty() && copy.waiters.empty() && datum.writers != 0;
  if (being_changed && copy.counts_for_flush && !refreshing_) {
    copy.counts_for_flush = false;
    datum.flush_when_written = true;
  }
  const Replica* newer = nullptr;
  if (datum.dirty() && !being_changed && (!copy.waiters.empty() || copy.counts_for_flush))
    newer = source_of(datum, datum.home.node);
  if (newer != nullptr) {
    // Whoever waits for it here needs what was written meanwhile: ask the new holder.
    Copy& again = make_copy(*const_cast<Replica*>(newer), datum.home, copy.cause);
    again.waiters.swap(copy.waiters);
    again.counts_for_flush = std::exchange(copy.counts_for_flush, false);
    enqueue(again);
  }
  serve_waiters(copy);
  left(replica);
  if (copy.counts_for_flush) flush_ended();
  copies_.give_back(copy);
}

void Memory::failed(Copy& copy) {
  Replica& replica = *copy.to;
  Datum& datum = data_[copy.datum];
  const bool to_cache = nodes_[index(replica.node)].is_cache;
  // What makes data would fail again; and what came back otherwise than it was written is not to be trusted
  // when it comes a second time, nor is anything else on that disk.
  const bool altered = copy.error_number == EBADMSG;
  if (++copy.attempts < 2 && !copy.revoked && copy.generator == nullptr && !altered) {
    // Once more, from somebody else if there is somebody.
    const Replica* other = nullptr;
    if (to_cache && copy.via == nullptr && copy.cause != Cause::eviction)
      for (const Replica* holder = datum.cached; holder != nullptr; holder = holder->next_of_datum)
        if (holder != copy.from && holder != copy.to && holder->state == ReplicaState::valid &&
            holder->version == datum.version && routes_.between(holder->node, replica.node).exists())
          other = holder;
    if (other != nullptr) {
      detach(copy);
      copy.from = const_cast<Replica*>(other);
      copy.version = other->version;
      copy.link = routes_.between(other->node, replica.node).link;
      copy.next_outgoing = copy.from->outgoing;
      copy.from->outgoing = &copy;
      if (!mistake_.is(Mistake::source_not_pinned)) ++copy.from->source_pins;
      if (copy.from->in_list) nodes_[index(copy.from->node)].may_leave.remove(*copy.from);
    }
    if (!copy.waiters.empty() && copy.cause == Cause::prefetch) {  // a task waits for it now: it is urgent
      no_longer_prefetching(copy);
      no_longer_unused(replica);
      copy.cause = Cause::demand;
    }
    copy.state = Copy::State::queued;
    enqueue(copy);
    return;
  }
  // Those who need what should have arrived fail; those who only waited until the source is read no more go
  // on.
  const auto needs_it = [&](const Task& task) {
    if (copy.via != nullptr && task.node == copy.via->node) return true;
    if (!to_cache && task.role == TaskRole::view_switch) return true;
    return to_cache ? task.node == replica.node : reaches(task.node, replica.node);
  };
  for (Task* task : copy.waiters) {
    --task->pending_copies;
    if (!needs_it(*task)) {
      if (task->pending_copies == 0) effects.landed.push_back(task);
    } else {
      if (task->failure == nullptr && copy.failure != nullptr) task->failure = copy.failure;
      if (task->failure == nullptr)
        task->failure = std::make_exception_ptr(SystemError(
            "copying " + (name_ ? name_(copy.datum) : "datum " + std::to_string(index(copy.datum))) + " (" +
            std::to_string(copy.bytes) + " bytes) from " + topology_.nodes[index(copy.from->node)].name +
            " to " + topology_.nodes[index(replica.node)].name +
            " failed: " + std::strerror(copy.error_number)));
      if (std::ranges::find(effects.failed, task) == effects.failed.end()) effects.failed.push_back(task);
    }
  }
  const bool to_be_seen = !to_cache && std::ranges::any_of(copy.waiters, [](const Task* task) {
    return task->role == TaskRole::view_switch;
  });
  copy.waiters.clear();
  replica.arriving = nullptr;
  Replica& holder = *copy.from;
  // What was to make room or to be safe exists in one place only: it stays there, and the run has to stop.
  if (holder.state == ReplicaState::leaving && (!to_cache || copy.cause == Cause::eviction)) {
    nodes_[index(holder.node)].leaving_bytes -= holder.block.bytes;
    holder.state = ReplicaState::valid;
    tell_back(holder);
  }
  if (copy.cause == Cause::eviction || copy.cause == Cause::flush || to_be_seen || altered) {
    effects.stop_error = copy.error_number;
    effects.stop_datum = copy.datum;
    effects.stop_failure = copy.failure;
  }
  if (to_cache) {
    no_longer_prefetching(copy);
    arrived_at(replica, copy, copy.revoked, true);
    if (copy.via != nullptr) arrived_at(*copy.via, copy, copy.via_revoked, true);
    detach(copy);
    settle(replica);
    if (copy.via != nullptr) settle(*copy.via);
  } else {
    detach(copy);
    if (copy.counts_for_flush && copy.cause == Cause::demand && datum.writers == 0) {
      send_home(datum);  // it was a task's; the flush tries for itself
    } else if (copy.counts_for_flush) {
      flush_ended();
    }
  }
  copies_.give_back(copy);
}

void Memory::drop_clean() {
  for (std::size_t i = 0; i < data_.size(); ++i) {
    Datum& datum = data_[static_cast<DatumId>(i)];
    for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum)
      if (replica->in_list && another_holds(datum, *replica)) drop(*replica, DropReason::evicted);
  }
}

/// Starts what one of the open flushes waits for, or ends it.
void Memory::send_home(Datum& datum) {
  const Replica* source = datum.dirty() ? source_of(datum, datum.home.node) : nullptr;
  if (source == nullptr) return flush_ended();
  Copy& copy = make_copy(*const_cast<Replica*>(source), datum.home, Cause::flush);
  copy.counts_for_flush = true;
  enqueue(copy);
}

void Memory::flush_ended() noexcept {
  if (--flushes_open_ == 0) flush_wanted_ = false;
}

void Memory::refresh(std::span<const DatumId> data) {
  ensure(!flush_wanted_, "one flush ends before the next begins");
  refreshing_ = true;
  for (const DatumId id : data) {
    Datum& datum = data_[id];
    if (!datum.dirty() || datum.removed || datum.is_partial || datum.writers != 0) continue;
    if (datum.home.arriving != nullptr && datum.home.arriving->counts_for_flush) continue;  // named twice
    ++flushes_open_;
    if (datum.home.arriving != nullptr) {
      datum.home.arriving->counts_for_flush = true;
    } else {
      send_home(datum);
    }
  }
  flush_wanted_ = flushes_open_ != 0;
}

void Memory::flush() {
  ensure(!flush_wanted_, "one flush ends before the next begins");
  refreshing_ = false;
  for (std::size_t i = 0; i < data_.size(); ++i) {
    Datum& datum = data_[static_cast<DatumId>(i)];
    if (!datum.dirty() || datum.removed || datum.is_partial) continue;
    ++flushes_open_;
    if (datum.home.arriving != nullptr) {
      datum.home.arriving->counts_for_flush = true;
    } else if (datum.writers != 0) {
      datum.flush_when_written = true;
    } else {
      send_home(datum);
    }
  }
  flush_wanted_ = flushes_open_ != 0;
}

}  // namespace fairlead::memory
