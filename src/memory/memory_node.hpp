// A cache node: its space, the task with a claim on it, and the replicas that may leave.
#pragma once
#include <fairlead/ids.hpp>

#include <array>
#include <cstdint>

#include "memory/range_allocator.hpp"
#include "memory/replica.hpp"
#include "memory/written_by.hpp"
#include "policy/policy.hpp"

namespace fairlead {
struct Task;
}

namespace fairlead::memory {

class Admitter;
class Evictor;
class Losses;
struct State;

/// An intrusive list of replicas in order of insertion. Each replica is in one list at most.
class ReplicaList {
 public:
  Replica* oldest() const noexcept { return oldest_; }
  void append(Replica& replica) noexcept {
    replica.older = newest_;
    replica.newer = nullptr;
    if (newest_ != nullptr) {
      newest_->newer = &replica;
    } else {
      oldest_ = &replica;
    }
    newest_ = &replica;
  }
  void remove(Replica& replica) noexcept {
    if (replica.older != nullptr) {
      replica.older.write()->newer = replica.newer.get();
    } else {
      oldest_ = replica.newer;
    }
    if (replica.newer != nullptr) {
      replica.newer.write()->older = replica.older.get();
    } else {
      newest_ = replica.older;
    }
  }

 private:
  Replica* oldest_ = nullptr;
  Replica* newest_ = nullptr;
};

struct MemoryNode {
  const NodeId id = no_id<NodeId>;
  const bool is_cache = false;
  const std::uint64_t reaches = 0;  ///< bit k: workers here use data of home node k in place
  WrittenBy<RangeAllocator, Coherence> space;
  /// Valid, unpinned replicas, least recently used first.
  WrittenBy<ReplicaList, Coherence> may_leave{};
  WrittenBy<Bytes, Coherence> pinned_bytes = 0;        ///< of replicas with task pins, and scratch
  WrittenBy<Bytes, Coherence> scratch_bytes = 0;       ///< of admitted tasks; also counted in pinned_bytes
  WrittenBy<Bytes, Coherence> held_bytes = 0;          ///< of replicas that the application holds
  WrittenBy<Bytes, FastPathData> fast_path_bytes = 0;  ///< of replicas kept for the fast path
  WrittenBy<Bytes, Coherence> leaving_bytes = 0;       ///< of replicas that are written home to make space
  /// Of copies in flight whose space is freed when they arrive.
  WrittenBy<Bytes, Transfers> revoked_bytes = 0;
  WrittenBy<Bytes, Transfers> prefetching_bytes = 0;  ///< of prefetches that have not arrived
  /// Of prefetches that no task has used yet, arrived or not.
  WrittenBy<Bytes, Coherence> prefetched_bytes = 0;
  /// Prefetched, transferred, and dropped before any task used them; by DropReason.
  WrittenBy<std::array<Bytes, drop_reason_count>, Coherence> unused_prefetch_bytes{};
  WrittenBy<Bytes, Coherence> peak_bytes = 0;
  WrittenBy<std::uint64_t, Evictor> evictions = 0;
  WrittenBy<Task*, Admitter> claimant = nullptr;  ///< the one task that gets freed space
  /// tasks without new space admitted since the claim
  WrittenBy<std::uint32_t, Admitter> passed_claimant = 0;
  WrittenBy<std::size_t, State> data = 0;  ///< data that workers here do not use in place
  WrittenBy<Bytes, State> data_bytes = 0;  ///< rounded bytes of those data
  WrittenBy<bool, Losses> lost = false;    ///< the node's memory is gone; started copies and tasks end
};

}  // namespace fairlead::memory
