// One cache node: its space, who waits for space, and which replicas may leave.
#pragma once
#include <fairlead/ids.hpp>

#include <array>
#include <cstdint>

#include "memory/range_allocator.hpp"
#include "memory/replica.hpp"
#include "policy/policy.hpp"

namespace fairlead {
struct Task;
}

namespace fairlead::memory {

/// Replicas that may leave, least recently used first: valid, and pinned by nobody. Linked through
/// themselves.
class ReplicaList {
 public:
  Replica* oldest() const noexcept { return oldest_; }
  void append(Replica& replica) noexcept {
    replica.older = newest_;
    replica.newer = nullptr;
    (newest_ != nullptr ? newest_->newer : oldest_) = &replica;
    newest_ = &replica;
    replica.in_list = true;
  }
  void remove(Replica& replica) noexcept {
    (replica.older != nullptr ? replica.older->newer : oldest_) = replica.newer;
    (replica.newer != nullptr ? replica.newer->older : newest_) = replica.older;
    replica.in_list = false;
  }

 private:
  Replica* oldest_ = nullptr;
  Replica* newest_ = nullptr;
};

struct MemoryNode {
  explicit MemoryNode(Bytes capacity) : space(capacity) {}

  NodeId id = no_id<NodeId>;
  bool is_cache = false;
  std::uint64_t reaches = 0;  ///< bit k: workers here use data of home node k in place
  RangeAllocator space;
  std::byte* base = nullptr;  ///< where the arena begins; null in a simulation
  ReplicaList may_leave;
  Bytes pinned_bytes = 0;       ///< of replicas with task pins
  Bytes scratch_bytes = 0;      ///< of admitted tasks; counted in pinned_bytes, too
  Bytes held_bytes = 0;         ///< of replicas that the application holds
  Bytes lane_bytes = 0;         ///< of replicas that stay for the direct lane
  Bytes leaving_bytes = 0;      ///< of replicas on their way home to make room
  Bytes revoked_bytes = 0;      ///< of prefetches in flight that give their space back when they land
  Bytes prefetching_bytes = 0;  ///< of prefetches that have not landed
  Bytes prefetched_bytes = 0;   ///< of prefetches that no task has used so far, landed or not
  /// Prefetched, moved, and left again before any task used it; by DropReason.
  std::array<Bytes, drop_reason_count> unused_prefetch_bytes{};
  Bytes peak_bytes = 0;
  std::uint64_t evictions = 0;
  Task* claimant = nullptr;           ///< the one task that gets what is freed
  std::uint32_t passed_claimant = 0;  ///< admissions since, that needed no space
};

}  // namespace fairlead::memory
