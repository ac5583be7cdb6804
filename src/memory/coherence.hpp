// The state of replicas: version, space and pins. The policy is notified of changes here.
#pragma once
#include <cstdint>
#include <utility>

#include "memory/state.hpp"

namespace fairlead::memory {

class Coherence {
 public:
  explicit Coherence(State& state) : state_(state) {}

  // ---- space

  /// Allocates space for the replica, without contents, and sets its `state`. False if no hole is large enough.
  bool reserve(Replica& replica, MemoryNode& node, ReplicaState state);
  /// Allocates and pins the task's scratch. False if no hole is large enough.
  bool take_scratch(Task& task, MemoryNode& node);
  void give_scratch_back(Task& task, MemoryNode& node);
  /// Frees a replica's space. The replica must be present and not pinned.
  void drop(Replica& replica, DropReason reason);

  // ---- versions

  /// A copy to the replica exists.
  void expect(Replica& replica) noexcept { replica.state = ReplicaState::in_flight; }
  /// The copy has arrived. Version 0: the bytes are out of date and unusable.
  void landed(Replica& replica, std::uint64_t version) noexcept {
    replica.state = ReplicaState::valid;
    replica.version = version;
  }
  /// Notifies the policy that the replica has its bytes.
  void notify_loaded(const Replica& replica) {
    if (state_.notifies_residency) state_.policy->arrived(replica.datum, replica.node);
  }
  /// A task wrote the datum in this replica, which alone has the newest version now.
  void wrote(Datum& datum, Replica& at) noexcept { at.version = ++datum.version.write(); }
  /// The home has that version now, or the version has no value that could be written back.
  void home_has(Datum& datum, std::uint64_t version) noexcept { datum.home.version = version; }
  /// A deliberate mistake, for tests.
  void pretend_newest(Replica& replica) noexcept {
    replica.version = state_.data[replica.datum].version.get();
  }
  /// A copy writes the replica elsewhere, to make space.
  void begin_leaving(Replica& replica);
  /// Cancels begin_leaving().
  void cancel_eviction(Replica& replica);

  // ---- pins

  /// Adds or removes the pin of an admitted task. The last unpin settles the replica.
  void pin(Replica& replica, MemoryNode& node);
  void unpin(Replica& replica, MemoryNode& node);
  /// hold() turns the pin of an admitted task into a pin of a hold; unhold() reverts that.
  void hold(Replica& replica, MemoryNode& node);
  void unhold(Replica& replica, MemoryNode& node);
  /// Removes an unpinned replica from the list of possible victims, for now.
  void remove_victim(Replica& replica) noexcept {
    replica.in_list = false;
    state_.node(replica.node).may_leave.write().remove(replica);
  }
  /// Adds the replica to the end of the list of possible victims.
  void add_victim(Replica& replica) noexcept {
    replica.in_list = true;
    state_.node(replica.node).may_leave.write().append(replica);
  }
  /// If the replica is not pinned: drops it if it is old, otherwise adds it to the list of possible victims.
  void settle(Replica& replica);

  // ---- usefulness of prefetches

  /// Marks a replica as prefetched.
  void fetched_ahead(Replica& replica) noexcept {
    replica.prefetched = true;
    state_.node(replica.node).prefetched_bytes += replica.block->bytes;
  }
  /// A task uses the replica.
  void used(Replica& replica) noexcept {
    no_longer_unused(replica);
    replica.taken_back = 0;
  }
  /// A prefetched replica is now used or requested, or leaves.
  void no_longer_unused(Replica& replica) noexcept {
    if (std::exchange(replica.prefetched.write(), false))
      state_.node(replica.node).prefetched_bytes -= replica.block->bytes;
  }

 private:
  State& state_;
};

}  // namespace fairlead::memory
