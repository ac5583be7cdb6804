// A replica is a datum's copy on one memory node; a copy (transfer) is what makes one from another. Of each
// field it is said who writes it.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

#include "base/event.hpp"
#include "data/generator.hpp"
#include "data/layout.hpp"
#include "memory/location.hpp"
#include "memory/range_allocator.hpp"
#include "memory/written_by.hpp"
#include "policy/view.hpp"

namespace fairlead::memory {

/// Why bytes cross a link.
enum class Cause : std::uint8_t {
  demand,    // an admitted task reads the datum
  prefetch,  // a task will read it
  eviction,  // its newest version goes home to make room
  flush,     // its newest version goes home because the program asks for it
};
inline constexpr std::size_t cause_count = 4;
constexpr std::string_view name_of(Cause cause) noexcept {
  switch (cause) {
    case Cause::demand:
      return "demand";
    case Cause::prefetch:
      return "prefetch";
    case Cause::eviction:
      return "eviction";
    case Cause::flush:
      return "flush";
  }
  return "?";
}

class Coherence;
class DatumTable;
class Flushes;
class LaneData;
class Links;
class ReplicaList;
class Transfers;
struct Copy;

struct Replica {
  const DatumId datum = no_id<DatumId>;
  const NodeId node = no_id<NodeId>;
  WrittenBy<ReplicaState, Coherence> state = ReplicaState::absent;
  WrittenBy<bool, Coherence> prefetched = false;  ///< brought by a prefetch, and no task has used it since
  WrittenBy<std::uint8_t, Coherence> taken_back = 0;  ///< prefetches in a row that left again unused
  WrittenBy<bool, Coherence> in_list = false;         ///< in its node's list of replicas that may leave
  WrittenBy<bool, LaneData> in_lane = false;  ///< tasks of the direct lane may be using it: it stays here
  /// Admitted tasks that use it. Three counters, because one that is shared drifts.
  WrittenBy<std::uint32_t, Coherence> task_pins = 0;
  WrittenBy<std::uint32_t, Transfers> source_pins = 0;  ///< copies that read it
  WrittenBy<std::uint32_t, Coherence> app_pins = 0;     ///< holds of the application
  /// Of the datum; 0 in a cache: nothing has been written into this space yet.
  WrittenBy<std::uint64_t, Coherence> version = 0;
  void* const address = nullptr;                   ///< user memory: where the program says that it is
  WrittenBy<Copy*, Transfers> arriving = nullptr;  ///< the copy that brings it
  WrittenBy<Copy*, Transfers> outgoing = nullptr;  ///< copies that read it, linked by next_outgoing
  WrittenBy<Range, Coherence> block{};             ///< its space in the arena or in the spill file
  WrittenBy<Replica*, DatumTable> next_of_datum = nullptr;
  /// Neighbours in the list of replicas that may leave, or stay for the lane.
  WrittenBy<Replica*, ReplicaList> older = nullptr, newer = nullptr;

  Location location() const noexcept { return {node, block->offset, address}; }
  bool pinned() const noexcept { return (task_pins | source_pins | app_pins) != 0 || in_lane; }
};

struct Copy : Event {
  /// Whether the world has heard of it.
  enum class State : std::uint8_t {
    queued,     // waits for its link; can be taken back
    joined,     // waits for the copy that brings what it reads; can be taken back
    in_flight,  // started; ends with an event
  };
  Copy() = default;
  /// As it is when it waits for its link.
  Copy(Replica& source, Replica& target, LinkId by, Cause why, Bytes size)
      : datum(target.datum), link(by), cause(why), bytes(size), from(&source), to(&target) {}

  WrittenBy<std::uint64_t, Transfers> id = 0;
  WrittenBy<DatumId, Transfers> datum = no_id<DatumId>;
  WrittenBy<LinkId, Transfers> link = no_id<LinkId>;
  WrittenBy<Cause, Transfers> cause = Cause::demand;
  WrittenBy<State, Links> state = State::queued;
  WrittenBy<bool, Transfers> overtaken = false;  ///< the datum was written meanwhile: what lands is old
  WrittenBy<bool, Transfers> revoked = false;  ///< a prefetch whose space is wanted back as soon as it lands
  WrittenBy<bool, Flushes> counts_for_flush = false;
  WrittenBy<bool, Transfers> via_revoked = false;   ///< what `via` takes is wanted back as soon as it lands
  WrittenBy<std::uint8_t, Transfers> attempts = 0;  ///< failed so far
  WrittenBy<std::uint64_t, Transfers> version = 0;  ///< that it carries
  WrittenBy<Bytes, Transfers> bytes = 0;
  WrittenBy<Replica*, Transfers> from = nullptr;
  WrittenBy<Replica*, Transfers> to = nullptr;
  /// Of the end in user memory, if that is not one block.
  WrittenBy<const data::Layout*, Transfers> layout = nullptr;
  /// The bytes are not read at `from` but made by this.
  WrittenBy<const data::Generator*, Transfers> generator = nullptr;
  /// On a cache that the bytes pass on their way: it keeps them, too.
  WrittenBy<Replica*, Transfers> via = nullptr;
  WrittenBy<Copy*, Transfers> next_outgoing = nullptr;
  WrittenBy<std::vector<Task*>, Transfers> waiters;  ///< admitted tasks that start only after it

  // Said by the world, or of it.
  int error_number = 0;        ///< set by the world before copy_failed
  std::exception_ptr failure;  ///< what the generator threw; set by the world before copy_failed
  Time started{};              ///< by the engine's clock; `at` is the world's while the copy is in flight
};

}  // namespace fairlead::memory
