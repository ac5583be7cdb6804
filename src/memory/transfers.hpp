// The life of copies until they end: creation, queues, start, cancellation. The consequences of their ends are in
// copy_completion.hpp.
#pragma once
#include <cstdint>

#include "memory/coherence.hpp"
#include "memory/copy_pool.hpp"
#include "memory/effects.hpp"
#include "memory/links.hpp"

namespace fairlead::memory {

class Transfers {
 public:
  Transfers(State& state, Coherence& coherence)
      : state_(state), coherence_(coherence), links_(state.topology, state.routes) {}

  // ---- before the copy starts

  /// The best source of the newest version for this cause: a replica that has it, or a peer to which it is being
  /// copied, if the path from that peer is faster. Null if no other node has it.
  Replica* source_for(Datum& datum, const Replica& to, Cause cause) noexcept;
  /// Makes a copy that reads `from`, which gets pinned. It starts after enqueue().
  Copy& make(Replica& from, Replica& to, Cause cause);
  /// The copy also leaves its bytes in `via`, on a cache that it passes.
  void keep_in(Copy& copy, Replica& via) noexcept;
  /// Queues the copy for its link; if its source has not arrived, only after that.
  void enqueue(Copy& copy, Effects& effects);
  /// Queues the copies that waited for the replica's arrival.
  void start_joined(Replica& replica, Effects& effects);
  /// Takes back a copy that has not started.
  void unqueue(Copy& copy);
  /// True if the copy has not started, and no task waits for it or for a copy joined to it.
  bool may_abandon(const Copy& copy) const noexcept;
  /// Takes back such a copy and the copies joined to it, and frees their space.
  void abandon(Copy& copy, DropReason reason);
  /// The replica that the copy passes belongs to a task now: the copy need not write it.
  void forget_via(Copy& copy) noexcept { copy.via = nullptr; }

  // ---- waiting tasks

  /// Lets an admitted task wait for the end of the copy.
  void wait_for(Task& task, Copy& copy) {
    copy.waiters.write().push_back(&task);
    ++task.pending_copies;
  }
  /// Removes a task that used the replica from the waiters of copies that continue.
  void forget_waiter(const Task& task, Replica& replica);
  /// Prefetches to this node give back their space, and prefetches from it release their sources, except for data
  /// that the task needs.
  void revoke_prefetches(MemoryNode& node, const Task& for_task);
  /// Reverts the revocation of a copy to the replica or through it.
  void want(Replica& replica) noexcept;
  /// A task wrote the datum in this replica: all other replicas and copies are out of date.
  void written(Datum& datum, Replica& at);

  // ---- when the copy has ended

  void ended(const Copy& copy) { links_.ended(copy); }
  void count(const Copy& copy) noexcept { links_.count(copy); }
  WayId way_of(const Copy& copy) const noexcept { return links_.way_of(copy); }
  void start_next(WayId way, Effects& effects) { links_.start(way, effects.started); }
  /// The copy's bytes are in the replica, which is its destination or on its way. Version 0: they are unusable.
  void landed(Copy& copy, Replica& replica, std::uint64_t version) noexcept;
  /// The copy's destination expects no copy any more.
  void nothing_arrives(Copy& copy) noexcept { copy.to.write()->arriving = nullptr; }
  /// The copy no longer reads its source.
  void detach(Copy& copy);
  void no_longer_prefetching(const Copy& copy) noexcept;
  /// Counts a failure and returns the number of failures so far.
  unsigned failed_again(Copy& copy) noexcept { return ++copy.attempts; }
  /// A task waits for the prefetch: it becomes a demand copy.
  void make_urgent(Copy& copy) noexcept;
  /// One end of the copy is lost: its bytes are unusable. A copy that has not started never will.
  void invalidate(Copy& copy) {
    if (copy.state != Copy::State::in_flight) links_.remove(copy);
    copy.overtaken = true;
    copy.version = 0;
  }
  /// Replaces the source of the copy.
  void change_source(Copy& copy, Replica& from);
  /// Moves the waiters for which `stay` is false to the other copy.
  template <class Stay>
  void move_waiters(Copy& copy, Copy& to, Stay cancel_eviction) {
    auto& waiters = copy.waiters.write();
    const auto going = std::stable_partition(waiters.begin(), waiters.end(), cancel_eviction);
    to.waiters.write().assign(going, waiters.end());
    waiters.erase(going, waiters.end());
  }
  /// Removes the waiters for which `which` is true.
  template <class Which>
  void release_waiters(Copy& copy, Which which) {
    std::erase_if(copy.waiters.write(), which);
  }
  /// Returns the descriptor to the pool.
  void give_back(Copy& copy);

  bool is_duplex(const Route& route) const noexcept { return links_.is_duplex(route); }
  bool is_idle(const Route& route) const noexcept { return links_.is_idle(route); }
  /// By LinkId; physical links only.
  std::span<const LinkTraffic> traffic() const noexcept { return links_.traffic(); }
  std::size_t in_flight() const noexcept { return links_.copies_in_flight(); }
  std::uint64_t finished_copies() const noexcept { return links_.copies_ended(); }
  /// Calls f(const Copy&) for each copy that is queued or in flight.
  template <class F>
  void for_each(F&& f) const {
    copies_.for_each(f);
  }

 private:
  bool hands_on(const Replica& peer, const Replica& to, Cause cause) const noexcept;
  bool waits_for(const Copy& copy, const Replica& replica) const noexcept;
  void attach(Copy& copy, Replica& from);
  void release_staging(Copy& copy, DropReason reason);

  State& state_;
  Coherence& coherence_;
  Links links_;
  CopyPool copies_;
  std::uint64_t next_id_ = 0;
};

}  // namespace fairlead::memory
