// One cache node: its space, who waits for space, and which replicas may leave. Of each field it is said who
// writes it.
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

/// Replicas in the order in which they came. Linked through themselves; each is in one list at most.
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
  /// Least recently used first: valid, and pinned by nobody.
  WrittenBy<ReplicaList, Coherence> may_leave{};
  WrittenBy<Bytes, Coherence> pinned_bytes = 0;   ///< of replicas with task pins
  WrittenBy<Bytes, Coherence> scratch_bytes = 0;  ///< of admitted tasks; counted in pinned_bytes, too
  WrittenBy<Bytes, Coherence> held_bytes = 0;     ///< of replicas that the application holds
  WrittenBy<Bytes, LaneData> lane_bytes = 0;      ///< of replicas that stay for the direct lane
  WrittenBy<Bytes, Coherence> leaving_bytes = 0;  ///< of replicas on their way home to make room
  /// Of prefetches in flight that give their space back when they land.
  WrittenBy<Bytes, Transfers> revoked_bytes = 0;
  WrittenBy<Bytes, Transfers> prefetching_bytes = 0;  ///< of prefetches that have not landed
  /// Of prefetches that no task has used so far, landed or not.
  WrittenBy<Bytes, Coherence> prefetched_bytes = 0;
  /// Prefetched, moved, and left again before any task used it; by DropReason.
  WrittenBy<std::array<Bytes, drop_reason_count>, Coherence> unused_prefetch_bytes{};
  WrittenBy<Bytes, Coherence> peak_bytes = 0;
  WrittenBy<std::uint64_t, Evictor> evictions = 0;
  WrittenBy<Task*, Admitter> claimant = nullptr;           ///< the one task that gets what is freed
  WrittenBy<std::uint32_t, Admitter> passed_claimant = 0;  ///< admissions since, that needed no space
  WrittenBy<std::size_t, State> data = 0;                  ///< that are not used in place here
  WrittenBy<Bytes, State> data_bytes = 0;                  ///< of those, rounded
  WrittenBy<bool, Losses> lost = false;  ///< what is here is gone; copies and tasks that had begun end
};

}  // namespace fairlead::memory
