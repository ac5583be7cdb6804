// Makes room in a cache: which replicas leave, for what, and where they go (docs/memory.md, "How is room
// made?").
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <span>

#include "memory/transfers.hpp"

namespace fairlead::memory {

/// What room is made for.
enum class Purpose : std::uint8_t {
  task,      // one is to be admitted: what leaves may go home first, and the task waits for it
  prefetch,  // a task will read it: what the policy spares, one at a time, if it leaves nothing behind
  passing,   // a copy passes that cache: what can be dropped at once; nobody waits
};

class Evictor {
 public:
  Evictor(State& state, Coherence& coherence, Transfers& transfers)
      : state_(state), coherence_(coherence), transfers_(transfers) {}

  /// Lets replicas leave until `sizes` can be had at once. False if that needs copies to end first, or cannot
  /// be. `wanted`: the datum that is prefetched or passes.
  bool make_room(Purpose purpose, MemoryNode& node, std::span<const Bytes> sizes, Effects& effects,
                 DatumId wanted = no_id<DatumId>);
  /// An unpinned replica gives up its space: at once if somebody else holds the same, else by way of its
  /// home.
  void leave(Replica& replica, MemoryNode& node, Effects& effects);
  /// What the copy brings over two wires stays where it passes, too, if space can be had there at once; nobody
  /// ever waits for that (rule 4).
  void keep_on_the_way(Copy& copy, Effects& effects);
  /// Drops every replica that nobody uses and whose version another place holds.
  void drop_clean();
  /// Something is on its way out, or will be given back when it lands.
  static bool is_coming(const MemoryNode& node) noexcept {
    return node.leaving_bytes + node.revoked_bytes > 0;
  }

 private:
  class LeastRecentlyUsed;
  Replica* victim(MemoryNode& node, Bytes passing);
  bool spare_for(DatumId wanted, Bytes bytes, MemoryNode& node, Effects& effects);
  bool drop_for(Bytes bytes, MemoryNode& node);
  Replica* space_on_the_way(Datum& datum, NodeId through, Effects& effects);

  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
};

}  // namespace fairlead::memory
