// Copies: made, queued for their links, started a few at a time, taken back. What follows when they end is in
// landing.hpp.
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

  // ---- before the world hears of it

  /// From where the newest version is brought there for that cause: from whoever has it, or from a peer at which it
  /// arrives, and that hands it on, if the way from there is a shorter one. Null if nobody else has it.
  Replica* source_for(Datum& datum, const Replica& to, Cause cause) noexcept;
  /// A copy that reads `from`, which is pinned for it. It waits for enqueue().
  Copy& make(Replica& from, Replica& to, Cause cause);
  /// It leaves its bytes on a cache that it passes, too.
  void keep_in(Copy& copy, Replica& via) noexcept;
  /// It waits for its link, or first for the copy that brings what it reads.
  void enqueue(Copy& copy, Effects& effects);
  /// What the copies waited for that read the replica has landed: they wait for their links now.
  void hand_on(Replica& replica, Effects& effects);
  /// Takes a copy back that the world has not heard of.
  void unqueue(Copy& copy);
  /// The world has not heard of it, and neither a task waits for it nor one for what is handed on after it.
  bool may_abandon(const Copy& copy) const noexcept;
  /// Takes such a copy back, and what was to be handed on after it, and gives up its space.
  void abandon(Copy& copy, DropReason reason);
  /// The bytes that pass there are a task's now: the copy need not leave them.
  void give_up_via(Copy& copy) noexcept { copy.via = nullptr; }

  // ---- who waits for it

  void wait_for(Task& task, Copy& copy) {
    copy.waiters.write().push_back(&task);
    ++task.pending_copies;
  }
  /// A task that used the replica ends while copies that it waited for go on.
  void forget_waiter(const Task& task, Replica& replica);
  /// Prefetches to this node give their space back, and those from it let go of their sources; except what the
  /// task itself needs.
  void revoke_prefetches(MemoryNode& node, const Task& for_task);
  /// What arrives there, or passes, is wanted after all.
  void want(Replica& replica) noexcept;
  /// A task has written the datum at this replica: everything else that is held of it is old.
  void written(Datum& datum, Replica& at);

  // ---- when it has ended

  void ended(const Copy& copy) { links_.ended(copy); }
  void count(const Copy& copy) noexcept { links_.count(copy); }
  WayId way_of(const Copy& copy) const noexcept { return links_.way_of(copy); }
  void start_next(WayId way, Effects& effects) { links_.start(way, effects.started); }
  /// Its bytes are in the replica, at its end or on its way; 0: they are worth nothing.
  void landed(Copy& copy, Replica& replica, std::uint64_t version) noexcept;
  /// Nothing comes any more to where the copy went.
  void nothing_arrives(Copy& copy) noexcept { copy.to.write()->arriving = nullptr; }
  /// It no longer reads its source.
  void detach(Copy& copy);
  void no_longer_prefetching(const Copy& copy) noexcept;
  /// Counts a failure; how often it has failed.
  unsigned failed_again(Copy& copy) noexcept { return ++copy.attempts; }
  /// A task waits for the prefetch: it is urgent.
  void make_urgent(Copy& copy) noexcept;
  /// An end of it is lost: whatever its bytes are, they are worth nothing. If the world has not heard of it, it will not.
  void spoil(Copy& copy) {
    if (copy.state != Copy::State::in_flight) links_.remove(copy);
    copy.overtaken = true;
    copy.version = 0;
  }
  /// It reads from there from now on.
  void change_source(Copy& copy, Replica& from);
  /// Those for which `others` is false wait for the other copy instead.
  template <class Stay>
  void hand_over(Copy& copy, Copy& to, Stay stay) {
    auto& waiters = copy.waiters.write();
    const auto going = std::stable_partition(waiters.begin(), waiters.end(), stay);
    to.waiters.write().assign(going, waiters.end());
    waiters.erase(going, waiters.end());
  }
  /// Those for which `which` is true do not wait for it any more.
  template <class Which>
  void release_waiters(Copy& copy, Which which) {
    std::erase_if(copy.waiters.write(), which);
  }
  void give_back(Copy& copy);

  bool is_duplex(const Route& route) const noexcept { return links_.is_duplex(route); }
  bool is_idle(const Route& route) const noexcept { return links_.is_idle(route); }
  /// Over wires.
  std::span<const LinkTraffic> traffic() const noexcept { return links_.traffic(); }
  std::size_t in_flight() const noexcept { return links_.copies_in_flight(); }
  std::uint64_t landed_so_far() const noexcept { return links_.copies_ended(); }
  /// Calls f(const Copy&) for each that is queued or in flight.
  template <class F>
  void for_each(F&& f) const {
    copies_.for_each(f);
  }

 private:
  bool hands_on(const Replica& peer, const Replica& to, Cause cause) const noexcept;
  bool waits_for(const Copy& copy, const Replica& replica) const noexcept;
  void attach(Copy& copy, Replica& from);
  void let_go_of_via(Copy& copy, DropReason reason);

  State& state_;
  Coherence& coherence_;
  Links links_;
  CopyPool copies_;
  std::uint64_t next_id_ = 0;
};

}  // namespace fairlead::memory
