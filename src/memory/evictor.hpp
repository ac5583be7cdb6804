// Makes space in a cache: selects the replicas that leave and where they go (docs/memory.md, "Eviction").
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <span>

#include "memory/transfers.hpp"

namespace fairlead::memory {

/// The purpose of the space.
enum class Purpose : std::uint8_t {
  task,      // a task to be admitted: victims may be written home first, and the task waits for that
  prefetch,  // a prefetch: evicts only what Policy::prefetch_victim names, one replica at a time
  transit,   // a copy that passes the cache: drops a clean replica; never waits
};

class Evictor {
 public:
  Evictor(State& state, Coherence& coherence, Transfers& transfers)
      : state_(state), coherence_(coherence), transfers_(transfers) {}

  /// Evicts replicas until `sizes` can be allocated at once. False if copies must end first, or if that is
  /// impossible. `wanted`: the datum that is prefetched or in transit.
  bool make_room(Purpose purpose, MemoryNode& node, std::span<const Bytes> sizes, Effects& effects,
                 DatumId wanted = no_id<DatumId>);
  /// Evicts an unpinned replica: drops it if another place has the same version, otherwise writes it home first.
  void evict(Replica& replica, MemoryNode& node, Effects& effects);
  /// A copy over two links also leaves a replica in the cache that it passes, if space can be had there at once. No
  /// task ever waits for that (rule 4).
  void keep_staging_replica(Copy& copy, Effects& effects);
  /// Drops every unused replica whose version is also elsewhere.
  void drop_clean();
  /// True if replicas are leaving, or if copies in flight free their space when they arrive.
  static bool space_pending(const MemoryNode& node) noexcept {
    return node.leaving_bytes + node.revoked_bytes > 0;
  }

 private:
  class LeastRecentlyUsed;
  Replica* victim(MemoryNode& node, Bytes passing);
  bool spare_for(DatumId wanted, Bytes bytes, MemoryNode& node, Effects& effects);
  bool drop_for(Bytes bytes, MemoryNode& node);
  Replica* reserve_staging(Datum& datum, NodeId through, Effects& effects);

  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
};

}  // namespace fairlead::memory
