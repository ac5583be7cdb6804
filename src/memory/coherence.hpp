// The life of replicas: which version each holds, the space that it has, who keeps it there, and the policy
// that hears of it.
#pragma once
#include <cstdint>
#include <utility>

#include "memory/state.hpp"

namespace fairlead::memory {

class Coherence {
 public:
  explicit Coherence(State& state) : state_(state) {}

  // ---- space

  /// Space for the replica, with nothing in it so far; its `state` is that meanwhile. False if there is none.
  bool reserve(Replica& replica, MemoryNode& node, ReplicaState state);
  bool take_scratch(Task& task, MemoryNode& node);
  void give_scratch_back(Task& task, MemoryNode& node);
  /// Only what is present and used by nobody.
  void drop(Replica& replica, DropReason reason);

  // ---- versions

  /// A copy will bring its bytes.
  void expect(Replica& replica) noexcept { replica.state = ReplicaState::arriving; }
  /// They are there. Version 0: they are old, and worth nothing.
  void landed(Replica& replica, std::uint64_t version) noexcept {
    replica.state = ReplicaState::valid;
    replica.version = version;
  }
  void tell_loaded(const Replica& replica) {
    if (state_.tell_residency) state_.policy->loaded(replica.datum, replica.node);
  }
  /// A task has written the datum there: it is the newest, and nothing else is.
  void wrote(Datum& datum, Replica& at) noexcept { at.version = ++datum.version.write(); }
  /// The home has that version now, or there is nothing worth bringing there.
  void home_has(Datum& datum, std::uint64_t version) noexcept { datum.home.version = version; }
  /// A mistake.
  void pretend_newest(Replica& replica) noexcept {
    replica.version = state_.data[replica.datum].version.get();
  }
  /// It is being written somewhere else to make room.
  void begin_leaving(Replica& replica);
  /// It does not leave after all.
  void stay(Replica& replica);

  // ---- who keeps it there

  void pin(Replica& replica, MemoryNode& node);
  void unpin(Replica& replica, MemoryNode& node);
  /// The pin of an admitted task becomes one of a hold, and back.
  void hold(Replica& replica, MemoryNode& node);
  void unhold(Replica& replica, MemoryNode& node);
  /// It may not leave for now, although nobody pins it.
  void keep_back(Replica& replica) noexcept {
    replica.in_list = false;
    state_.node(replica.node).may_leave.write().remove(replica);
  }
  void offer(Replica& replica) noexcept {
    replica.in_list = true;
    state_.node(replica.node).may_leave.write().append(replica);
  }
  /// If nobody pins it any more: drops it if it is old, else lets it leave when space is needed.
  void settle(Replica& replica);

  // ---- whether fetching it ahead was worth while

  void fetched_ahead(Replica& replica) noexcept {
    replica.prefetched = true;
    state_.node(replica.node).prefetched_bytes += replica.block->bytes;
  }
  /// A task uses it.
  void used(Replica& replica) noexcept {
    no_longer_unused(replica);
    replica.taken_back = 0;
  }
  /// It was prefetched, and is now used or wanted, or leaves.
  void no_longer_unused(Replica& replica) noexcept {
    if (std::exchange(replica.prefetched.write(), false))
      state_.node(replica.node).prefetched_bytes -= replica.block->bytes;
  }

 private:
  State& state_;
};

}  // namespace fairlead::memory
