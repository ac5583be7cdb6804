// See transfers.hpp (rules 3 to 6).
#include "memory/transfers.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/check.hpp"

namespace fairlead::memory {

namespace {

/// A copy that waits for data to arrive at the replica. Null: there is none.
Copy* joined_to(Replica& replica) noexcept {
  Copy* copy = replica.outgoing;
  while (copy != nullptr && copy->state != Copy::State::joined) copy = copy->next_outgoing;
  return copy;
}

}  // namespace

void Transfers::attach(Copy& copy, Replica& from) {
  copy.from = &from;
  copy.version = from.state == ReplicaState::in_flight ? from.arriving->version.get() : from.version.get();
  copy.next_outgoing = from.outgoing.get();
  from.outgoing = &copy;
  const Datum& datum = state_.data[copy.datum];
  copy.generator = state_.made_from(datum, from) ? datum.generator : nullptr;
  copy.link = state_.routes.of(copy).link;
  // Replicas in caches are contiguous: from cache to cache no layout is needed.
  copy.layout = state_.in_cache(from) && state_.in_cache(*copy.to) ? nullptr : datum.layout;
  if (state_.mistake.is(Mistake::source_not_pinned)) return;
  ++from.source_pins;
  if (from.in_list) coherence_.remove_victim(from);
}

/// True if the copy ends at the replica, or waits for such a copy through a chain of joined copies.
bool Transfers::waits_for(const Copy& copy, const Replica& replica) const noexcept {
  const Copy* one = &copy;
  while (one->to != &replica && one->state == Copy::State::joined && one->from->arriving != nullptr)
    one = one->from->arriving;
  return one->to == &replica || one->from == &replica;
}

/// True if a copy of this cause may join the copy to the peer. An urgent copy may not join a prefetch that has not
/// started, since that waits behind all urgent copies. A circle of joined copies is excluded.
bool Transfers::hands_on(const Replica& peer, const Replica& to, Cause cause) const noexcept {
  if (peer.state != ReplicaState::in_flight || peer.arriving->to != &peer) return false;
  const Copy& coming = *peer.arriving;
  if (coming.overtaken || coming.revoked || coming.cause == Cause::eviction) return false;
  if (state_.is_lost(peer.node)) return false;
  if (coming.version != state_.data[peer.datum].version || waits_for(coming, to)) return false;
  return cause == Cause::prefetch || coming.cause != Cause::prefetch ||
         coming.state == Copy::State::in_flight;
}

Replica* Transfers::source_for(Datum& datum, const Replica& to, Cause cause) noexcept {
  Replica* best = state_.source_of(datum, to.node);
  if (best == nullptr || !state_.in_cache(to) || state_.made_from(datum, *best)) return best;
  Duration least = state_.routes.between(best->node, to.node).time(datum.bytes);
  for (Replica* peer = datum.cached; peer != nullptr; peer = peer->next_of_datum) {
    if (peer->node == to.node || !hands_on(*peer, to, cause)) continue;
    const Route& route = state_.routes.between(peer->node, to.node);
    if (!route.exists() || route.through != no_id<NodeId>) continue;
    // The time until the new copy would end: the copies that the peer already passes on share its port, and the copy
    // to the peer may itself wait for another.
    Duration time = route.time(datum.bytes);
    for (const Copy* other = peer->outgoing; other != nullptr; other = other->next_outgoing)
      time += route.time(datum.bytes);
    for (const Copy* one = peer->arriving; one->state == Copy::State::joined; one = one->from->arriving)
      time += state_.routes.of(*one).time(datum.bytes);
    if (time >= least) continue;
    best = peer;
    least = time;
  }
  return best;
}

void Transfers::enqueue(Copy& copy, Effects& effects) {
  if (copy.from->state == ReplicaState::in_flight && !state_.mistake.is(Mistake::handed_on_too_soon))
    return links_.add_later(copy);
  links_.add(copy);
  links_.start(links_.way_of(copy), effects.started);
}

void Transfers::start_joined(Replica& replica, Effects& effects) {
  for (Copy* copy = replica.outgoing; copy != nullptr; copy = copy->next_outgoing) {
    if (copy->state != Copy::State::joined) continue;
    copy->version = replica.version.get();
    copy->overtaken = false;
    enqueue(*copy, effects);
  }
}

Copy& Transfers::make(Replica& from, Replica& to, Cause cause) {
  Copy& copy = copies_.take();
  const Datum& datum = state_.data[to.datum];
  copy.id = next_id_++;
  copy.overtaken = copy.revoked = copy.via_revoked = false;
  copy.attempts = 0;
  copy.error_number = 0;
  copy.waiters.write().clear();
  copy.via = nullptr;
  copy.datum = to.datum;
  copy.to = &to;
  copy.cause = cause;
  copy.bytes = datum.bytes;
  attach(copy, from);
  to.arriving = &copy;
  if (!state_.in_cache(to)) return copy;
  coherence_.expect(to);
  if (cause == Cause::prefetch) state_.node(to.node).prefetching_bytes += to.block->bytes;
  return copy;
}

void Transfers::keep_in(Copy& copy, Replica& via) noexcept {
  copy.via = &via;
  via.arriving = &copy;
  coherence_.expect(via);
}

void Transfers::unqueue(Copy& copy) {
  links_.remove(copy);
  if (std::exchange(copy.revoked.write(), false))
    state_.node(copy.to->node).revoked_bytes -= copy.to->block->bytes;
  detach(copy);
  nothing_arrives(copy);
  no_longer_prefetching(copy);
  release_staging(copy, DropReason::prefetch_cancelled);
  give_back(copy);
}

bool Transfers::may_abandon(const Copy& copy) const noexcept {
  if (copy.state == Copy::State::in_flight || !copy.waiters->empty()) return false;
  for (const Copy* next = copy.to->outgoing; next != nullptr; next = next->next_outgoing)
    if (next->state == Copy::State::joined && !may_abandon(*next)) return false;
  return true;
}

void Transfers::abandon(Copy& copy, DropReason reason) {
  ensure(copy.waiters->empty(), "no task waits for a cancelled copy");
  Replica &from = *copy.from.write(), &to = *copy.to.write();
  while (Copy* const next = joined_to(to)) abandon(*next, reason);
  unqueue(copy);
  if (state_.in_cache(to)) coherence_.drop(to, reason);
  if (from.state == ReplicaState::evicting && !from.pinned()) coherence_.drop(from, reason);
}

void Transfers::release_staging(Copy& copy, DropReason reason) {
  Replica* const via = std::exchange(copy.via.write(), nullptr);
  if (via == nullptr) return;
  via->arriving = nullptr;
  // Revoked while in flight; then the copy failed, and waits for its retry.
  if (std::exchange(copy.via_revoked.write(), false))
    state_.node(via->node).revoked_bytes -= via->block->bytes;
  coherence_.drop(*via, reason);
}

void Transfers::give_back(Copy& copy) {
  copy.from = copy.to = nullptr;
  copy.failure = nullptr;
  copies_.give_back(copy);
}

void Transfers::forget_waiter(const Task& task, Replica& replica) {
  if (replica.arriving != nullptr) std::erase(replica.arriving.write()->waiters.write(), &task);
  for (Copy* copy = replica.outgoing; copy != nullptr; copy = copy->next_outgoing)
    std::erase(copy->waiters.write(), &task);
}

void Transfers::revoke_prefetches(MemoryNode& node, const Task& for_task) {
  copies_.for_each([&](Copy& copy) {
    if (std::ranges::any_of(for_task.accesses(),
                            [&](const Access& access) { return state_.target(access) == copy.datum; }))
      return;
    const bool queued = copy.state == Copy::State::queued;  // a joined copy has no via
    if (copy.via != nullptr && copy.via->node == node.id && copy.via->task_pins == 0 && !copy.via_revoked) {
      if (queued) {
        release_staging(copy, DropReason::prefetch_cancelled);
      } else {
        copy.via_revoked = true;
        node.revoked_bytes += copy.via->block->bytes;
      }
    }
    if (queued && copy.via != nullptr && copy.via->task_pins != 0) return;
    const bool unwanted = may_abandon(copy);
    if (copy.cause == Cause::prefetch && unwanted && copy.from->node == node.id) {
      abandon(copy, DropReason::prefetch_cancelled);
      return;
    }
    if (copy.revoked || copy.to->node != node.id || copy.to->task_pins != 0) return;
    if (copy.to->state != ReplicaState::in_flight || copy.cause == Cause::eviction) return;
    if (unwanted) {
      abandon(copy, DropReason::prefetch_cancelled);
    } else {
      copy.revoked = true;
      node.revoked_bytes += copy.to->block->bytes;
    }
  });
}

void Transfers::want(Replica& replica) noexcept {
  Copy& copy = *replica.arriving.write();
  if (std::exchange((copy.via == &replica ? copy.via_revoked : copy.revoked).write(), false))
    state_.node(replica.node).revoked_bytes -= replica.block->bytes;
}

void Transfers::written(Datum& datum, Replica& at) {
  coherence_.wrote(datum, at);
  if (&at != &datum.home) state_.away.note(datum);
  for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum) {
    if (replica == &at) continue;
    switch (replica->state) {
      case ReplicaState::absent:
        break;
      case ReplicaState::in_flight: {
        Copy& copy = *replica->arriving.write();
        if (may_abandon(copy)) {
          abandon(copy, DropReason::overwritten);
        } else {
          copy.overtaken = true;
        }
        break;
      }
      case ReplicaState::evicting:
        // The copy from it carries an old version now; if it has not started, it is not needed.
        if (state_.mistake.is(Mistake::leaving_not_invalidated)) {
          coherence_.pretend_newest(*replica);
        } else if (replica->outgoing != nullptr && replica->outgoing->state == Copy::State::queued &&
                   replica->outgoing->next_outgoing == nullptr && !replica->outgoing->counts_for_flush &&
                   replica->outgoing->waiters->empty()) {
          abandon(*replica->outgoing.write(), DropReason::overwritten);
        }
        break;
      case ReplicaState::valid:
        if (!replica->pinned()) coherence_.drop(*replica, DropReason::overwritten);
        break;
    }
  }
}

void Transfers::landed(Copy& copy, Replica& replica, std::uint64_t version) noexcept {
  if (&replica == copy.to ? copy.revoked : copy.via_revoked)
    state_.node(replica.node).revoked_bytes -= replica.block->bytes;
  replica.arriving = nullptr;
  coherence_.landed(replica, version);
}

void Transfers::detach(Copy& copy) {
  Replica& from = *copy.from.write();
  auto* link = &from.outgoing;
  while (*link != &copy) link = &link->write()->next_outgoing;
  *link = copy.next_outgoing.get();
  if (!state_.mistake.is(Mistake::source_not_pinned)) --from.source_pins;
  state_.note_change();
  if (state_.in_cache(from) && from.state == ReplicaState::valid) coherence_.settle(from);
}

void Transfers::no_longer_prefetching(const Copy& copy) noexcept {
  if (copy.cause == Cause::prefetch) state_.node(copy.to->node).prefetching_bytes -= copy.to->block->bytes;
}

void Transfers::make_urgent(Copy& copy) noexcept {
  no_longer_prefetching(copy);
  coherence_.no_longer_unused(*copy.to.write());
  copy.cause = Cause::demand;
}

void Transfers::change_source(Copy& copy, Replica& from) {
  detach(copy);
  attach(copy, from);
  copy.overtaken = false;
}

}  // namespace fairlead::memory
