// The descriptor of a task: filled in by front ends, counted down by the graph, ordered by policies, run by the
// engine. One object from submission to completion; each field has one owner at a time (docs/how-it-works.md).
#pragma once
#include <fairlead/access.hpp>
#include <fairlead/codelet_info.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/place_hint.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "base/event.hpp"
#include "data/lazy_task.hpp"
#include "data/task_role.hpp"

namespace fairlead {

namespace graph {
struct Epoch;
}  // namespace graph

/// A task's access to one datum. Written by the submitter. The engine sets the datum's offset at admission; the
/// backend replaces it by an address when the task starts.
struct Access {
  Task* task = nullptr;
  graph::Epoch* epoch = nullptr;  ///< the graph's: the group of accesses to which it belongs
  union {
    Access* next_waiter = nullptr;  ///< while the task waits: next in the list of its epoch
    Bytes offset;   ///< once admitted, unless `in_place`: offset of the datum in the memory of the task's
                    ///< node
    void* address;  ///< in place, and for every body: address of the datum for this task
  };
  DatumId datum = no_id<DatumId>;
  AccessMode mode = AccessMode::read;
  std::uint8_t partials = 0;  ///< for a reduction: the number of partial results of the datum that it may add
                              ///< to
  std::uint8_t partial = 0;   ///< once admitted: the partial result that it adds to; 0: the datum itself
  bool is_packed_copy : 1 = false;  ///< once admitted: `address` is a copy without gaps between columns
  /// Once admitted: the datum is used in its home, at an address that only the program knows.
  bool in_place : 1 = false;
  bool fresh : 1 = false;  ///< once admitted: nothing has been added to that partial result yet
};

/// The life cycle of a task.
enum class TaskState : std::uint8_t {
  waiting,   // predecessors have not finished; only the graph refers to it
  ready,     // held by the policy
  picked,    // in a worker's pipeline without reservations; can still be recalled
  admitted,  // its data are reserved and pinned on one node; copies are in flight
  staged,    // its copies have arrived and the worker has it
  finished,  // ended, successfully or not
};

/// Flags of a task, set by the engine.
enum class TaskFlag : std::uint8_t {
  deferred = 1,        // its data are available, but it waits for workers: see engine/span_scheduler.hpp
  start_notified = 2,  // the policy has been notified of its start
  recalled = 4,        // recalled from its worker; not recalled again from the same one
  abandoned = 8,       // a hold that is no longer needed; it ends as soon as possible
};

inline constexpr std::size_t inline_accesses = 3;  // accesses stored in the descriptor
inline constexpr std::size_t closure_bytes = 64;   // for the body's arguments other than data

/// A descriptor. It is its own LazyTask if the task was created with its descriptor, as in flows.
struct alignas(64) Task : Event, LazyTask, TaskTraits {
  std::atomic<std::int32_t> wait{0};  ///< unfinished accesses before it; 0 = ready. Shared by all threads
  std::uint32_t fast_path_generation = 0;  ///< generation of the fast path that accepts it; 0: none
  TaskId id = no_id<TaskId>;
  Access* accesses_begin = nullptr;  ///< the inline ones, or a separate block if there are more
  void* policy_data = nullptr;       ///< owned by the policy, from ready() to pick() or cancelled()
  std::exception_ptr failure;        ///< set by the worker before task_failed
  LazyTask* lazy = nullptr;          ///< the task that it describes; null: itself
  Bytes scratch = 0;                 ///< once admitted: offset of its scratch memory in its node
  std::uint16_t access_count = 0;
  std::uint16_t pending_copies = 0;      ///< the engine's: copies of the admitted task that have not arrived
  NodeId node = no_id<NodeId>;           ///< the engine's: node that admitted it
  std::uint16_t width = 0;               ///< the engine's: number of workers that it runs on, if several are
                                         ///< requested
  TaskState state = TaskState::waiting;  ///< set by the engine
  std::uint8_t flags = 0;                ///< TaskFlag
  /// The engine's: the selected implementation, set when it is staged, if its codelet has several for the worker's
  /// kind.
  std::uint8_t implementation = no_implementation;
  /// Completes without running: an input is poisoned, or its flow was cancelled. Not a bit in `flags`: the completing
  /// thread reads it while the engine sets flags.
  bool cancelled = false;
  TaskRole role = TaskRole::program;
  std::array<Access, inline_accesses> inline_access;
  alignas(16) std::array<std::byte, closure_bytes> closure;  ///< arguments of the body other than data

  /// Reinitializes the descriptor with `count` accesses, which the caller fills in. Does not change the traits.
  void begin(TaskId name, Access* accesses, std::size_t count) noexcept {
    kind = EventKind::task_ready;
    worker = no_id<WorkerId>;
    fast_path_generation = 0;
    id = name;
    accesses_begin = accesses;
    policy_data = nullptr;
    lazy = nullptr;
    access_count = static_cast<std::uint16_t>(count);
    pending_copies = 0;
    node = no_id<NodeId>;
    width = 0;
    state = TaskState::waiting;
    flags = 0;
    implementation = no_implementation;
    cancelled = false;
    role = TaskRole::program;
  }
  /// The source that made it and is notified of its completion.
  TaskSource* source() const noexcept { return family->source; }
  /// See RoleTraits. The fast check first: most tasks have the role `program`.
  bool by_worker() const noexcept { return role == TaskRole::program || traits_of(role).by_worker; }
  bool uses_home() const noexcept { return role != TaskRole::program && traits_of(role).at_home; }
  bool passes_claims() const noexcept { return role != TaskRole::program && traits_of(role).ignores_claims; }
  std::span<Access> accesses() noexcept { return {accesses_begin, access_count}; }
  std::span<const Access> accesses() const noexcept { return {accesses_begin, access_count}; }
  bool has(TaskFlag flag) const noexcept { return (flags & static_cast<std::uint8_t>(flag)) != 0; }
  void set(TaskFlag flag) noexcept { flags |= static_cast<std::uint8_t>(flag); }
  void clear(TaskFlag flag) noexcept { flags &= static_cast<std::uint8_t>(~static_cast<std::uint8_t>(flag)); }
};
static_assert(sizeof(Task) == 5 * 64, "what waits takes memory: a new field has to find a gap");

/// Releases a hold, possibly before the hold is granted.
struct HoldRelease : Event {
  Task* hold = nullptr;      ///< null in a replay if the hold had ended before
  bool data_unused = false;  ///< the data were not accessed, so the declared writes did not occur
  bool granted = false;  ///< set by the engine: the source is or will be notified that the hold has its data
  std::atomic<bool> applied{false};  ///< the engine has processed it and no longer refers to it
};

/// Requests that the newest values of these data are copied home, unless a task is changing them.
struct RefreshRequest : Event {
  std::vector<DatumId> data;
};

/// A device is lost, and the content of its memory with it. Its workers start no more tasks. Tasks that had started
/// there, and copies from and to it, fail when they end. Tasks that had not started are returned when recalled.
struct NodeLoss : Event {
  NodeId node = no_id<NodeId>;
  std::string driver_error{};  ///< error text of the device's driver
};

}  // namespace fairlead
