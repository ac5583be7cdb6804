// Replicas and copies. A replica is a datum's instance on one memory node; a copy is a transfer from one replica to
// another.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

#include "base/event.hpp"
#include "data/generator.hpp"
#include "data/home_layout.hpp"
#include "memory/location.hpp"
#include "memory/range_allocator.hpp"
#include "memory/written_by.hpp"
#include "policy/view.hpp"

namespace fairlead::memory {

/// The reason for a transfer.
enum class Cause : std::uint8_t {
  demand,    // an admitted task reads the datum
  prefetch,  // a task will read the datum
  eviction,  // the newest version goes home to make space
  flush,     // the newest version goes home because the program asks for it
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
class FastPathData;
class Links;
class ReplicaList;
class Transfers;
struct Copy;

/// A datum's instance on one memory node.
struct Replica {
  const DatumId datum = no_id<DatumId>;
  const NodeId node = no_id<NodeId>;
  WrittenBy<ReplicaState, Coherence> state = ReplicaState::absent;
  WrittenBy<bool, Coherence> prefetched = false;      ///< a prefetch made it, and no task has used it since
  WrittenBy<std::uint8_t, Coherence> taken_back = 0;  ///< consecutive prefetches that were dropped unused
  WrittenBy<bool, Coherence> in_list = false;         ///< in its node's list of replicas that may leave
  WrittenBy<bool, FastPathData> on_fast_path =
      false;  ///< kept for the fast path, whose tasks may be using it
  /// Admitted tasks that use it. Separate counters for tasks, copies and holds make a wrong count traceable.
  WrittenBy<std::uint32_t, Coherence> task_pins = 0;
  WrittenBy<std::uint32_t, Transfers> source_pins = 0;  ///< copies that read it
  WrittenBy<std::uint32_t, Coherence> app_pins = 0;     ///< holds of the application
  /// The datum's version that it holds. 0 in a cache: its space has not been written yet.
  WrittenBy<std::uint64_t, Coherence> version = 0;
  void* const address = nullptr;                   ///< user memory: the program's address
  WrittenBy<Copy*, Transfers> arriving = nullptr;  ///< the copy to this replica, or through it
  WrittenBy<Copy*, Transfers> outgoing = nullptr;  ///< copies that read it, linked by next_outgoing
  WrittenBy<ByteRange, Coherence> block{};         ///< its space in the arena or in the spill file
  WrittenBy<Replica*, DatumTable> next_of_datum = nullptr;
  /// Neighbours in the list of possible victims, or in that of replicas kept for the fast path.
  WrittenBy<Replica*, ReplicaList> older = nullptr, newer = nullptr;

  Location location() const noexcept { return {node, block->offset, address}; }
  bool pinned() const noexcept { return (task_pins | source_pins | app_pins) != 0 || on_fast_path; }
};

/// A transfer from one replica to another. The descriptor is reused after its end.
struct Copy : Event {
  /// Progress of the copy. Only a copy in flight was passed to the backend.
  enum class State : std::uint8_t {
    queued,     // waits for its link; can be taken back
    joined,     // waits for the copy that writes its source; can be taken back
    in_flight,  // started; ends with an event
  };
  Copy() = default;
  /// A copy that waits for its link.
  Copy(Replica& source, Replica& target, LinkId by, Cause why, Bytes size)
      : datum(target.datum), link(by), cause(why), bytes(size), from(&source), to(&target) {}

  WrittenBy<std::uint64_t, Transfers> id = 0;
  WrittenBy<DatumId, Transfers> datum = no_id<DatumId>;
  WrittenBy<LinkId, Transfers> link = no_id<LinkId>;
  WrittenBy<Cause, Transfers> cause = Cause::demand;
  WrittenBy<State, Links> state = State::queued;
  WrittenBy<bool, Transfers> overtaken = false;  ///< the datum was written during the copy: its bytes are old
  WrittenBy<bool, Transfers> revoked = false;    ///< the space is freed as soon as the copy arrives
  WrittenBy<bool, Flushes> counts_for_flush = false;
  /// the space of `via` is freed as soon as the copy arrives
  WrittenBy<bool, Transfers> via_revoked = false;
  WrittenBy<std::uint8_t, Transfers> attempts = 0;  ///< failures so far
  WrittenBy<std::uint64_t, Transfers> version = 0;  ///< the version that it carries
  WrittenBy<Bytes, Transfers> bytes = 0;
  WrittenBy<Replica*, Transfers> from = nullptr;
  WrittenBy<Replica*, Transfers> to = nullptr;
  /// Layout of the end in user memory, if not contiguous.
  WrittenBy<const data::HomeLayout*, Transfers> layout = nullptr;
  /// Computes the bytes, instead of a read from `from`.
  WrittenBy<const data::Generator*, Transfers> generator = nullptr;
  /// A replica on a cache between the two nodes, which keeps the bytes too.
  WrittenBy<Replica*, Transfers> via = nullptr;
  WrittenBy<Copy*, Transfers> next_outgoing = nullptr;
  WrittenBy<std::vector<Task*>, Transfers> waiters;  ///< admitted tasks that start only after it

  // Results of the backend.
  int error_number = 0;        ///< errno; set before copy_failed
  std::exception_ptr failure;  ///< the generator's exception; set before copy_failed
  Time started{};              ///< in engine time; `at` is in backend time while the copy is in flight
};

}  // namespace fairlead::memory
