// A replica is a datum's copy on one memory node; a copy (transfer) is what makes one from another.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

#include "base/event.hpp"
#include "data/generator.hpp"
#include "data/layout.hpp"
#include "memory/range_allocator.hpp"
#include "policy/view.hpp"

namespace fairlead {
struct Task;
}

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

struct Copy;

struct Replica {
  DatumId datum = no_id<DatumId>;
  NodeId node = no_id<NodeId>;
  ReplicaState state = ReplicaState::absent;
  bool prefetched = false;      ///< brought by a prefetch, and no task has used it since
  std::uint8_t taken_back = 0;  ///< prefetches in a row that left again unused
  bool in_list = false;         ///< in its node's list of replicas that may leave
  bool in_lane = false;         ///< tasks of the direct lane may be using it: it stays where it is
  std::uint32_t task_pins =
      0;  ///< admitted tasks that use it. Three counters, because one that is shared drifts
  std::uint32_t source_pins = 0;  ///< copies that read it
  std::uint32_t app_pins = 0;     ///< holds of the application
  std::uint64_t version = 0;  ///< of the datum; 0 in a cache: nothing has been written into this space yet
  void* address = nullptr;    ///< user memory: where it is
  Copy* arriving = nullptr;   ///< the copy that brings it
  Copy* outgoing = nullptr;   ///< copies that read it, linked by next_outgoing
  Range block{};              ///< its space in the arena or in the spill file
  Replica* next_of_datum = nullptr;
  Replica *older = nullptr, *newer = nullptr;  ///< neighbours in the list of replicas that may leave

  bool pinned() const noexcept { return (task_pins | source_pins | app_pins) != 0 || in_lane; }
};

struct Copy : Event {
  /// Whether the world has heard of it.
  enum class State : std::uint8_t {
    queued,     // waits for its link; can be taken back
    in_flight,  // started; ends with an event
  };
  std::uint64_t id = 0;
  DatumId datum = no_id<DatumId>;
  LinkId link = no_id<LinkId>;
  Cause cause = Cause::demand;
  State state = State::queued;
  bool overtaken = false;  ///< the datum was written meanwhile: what lands is old
  bool revoked = false;    ///< a prefetch whose space is wanted back as soon as it lands
  bool counts_for_flush = false;
  bool via_revoked = false;   ///< what `via` takes is wanted back as soon as the copy lands
  std::uint8_t attempts = 0;  ///< failed so far
  int error_number = 0;       ///< set by the world before copy_failed
  Time started{};             ///< by the engine's clock; `at` is the world's while the copy is in flight
  std::uint64_t version = 0;  ///< that it carries
  Bytes bytes = 0;
  Replica* from = nullptr;
  Replica* to = nullptr;
  const data::Layout* layout = nullptr;        ///< of the end in user memory, if that is not one block
  const data::Generator* generator = nullptr;  ///< the bytes are not read at `from` but made by this
  std::exception_ptr failure;                  ///< what that threw; set by the world before copy_failed
  Replica* via = nullptr;  ///< on a cache that the bytes pass on their way: it keeps them, too
  Copy* next_outgoing = nullptr;
  std::vector<Task*> waiters;  ///< admitted tasks that start only after it
};

}  // namespace fairlead::memory
