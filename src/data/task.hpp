// The descriptor of a task: what front ends fill in, the graph counts down, policies order and the engine
// runs. One object from submission to completion; each field has one owner at a time (docs/how-it-works.md).
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

/// One datum that a task uses. Written by the submitter; where it is, by the engine when the task is admitted,
/// and by its world, which makes an address of that, when it begins.
struct Access {
  Task* task = nullptr;
  graph::Epoch* epoch = nullptr;  ///< the graph's: the group of accesses it belongs to
  union {
    Access* next_waiter = nullptr;  ///< while the task waits: next in its epoch's list
    Bytes offset;   ///< once admitted, unless `in_place`: where the datum is in the memory of the task's node
    void* address;  ///< in place, and for every body: where the datum is for this task
  };
  DatumId datum = no_id<DatumId>;
  AccessMode mode = AccessMode::read;
  std::uint8_t partials = 0;  ///< a reduction: how many of the datum's partial results it may add to
  std::uint8_t partial = 0;   ///< once admitted: 0: it adds to the datum itself; else to this one of them
  bool packed : 1 = false;    ///< once admitted: `address` is a copy without gaps between columns
  /// Once admitted: the datum is used in its home, of which only the program knows where it is.
  bool in_place : 1 = false;
  bool fresh : 1 = false;  ///< once admitted: nothing has been added to that partial result so far
};

/// Where a task stands.
enum class TaskState : std::uint8_t {
  waiting,   // predecessors are not finished; only the graph knows it
  ready,     // the policy holds it
  picked,    // in a worker's pipeline, holding nothing: may still be returned
  admitted,  // everything it needs is reserved and pinned on one node; copies are under way
  staged,    // its copies have landed and the worker has it
  finished,  // over, with or without success
};

/// Things about a task that are either so or not. The engine's.
enum class TaskFlag : std::uint8_t {
  put_off = 1,       // its data are there, but it waits for workers: see engine/gathering.hpp
  told_started = 2,  // the policy knows that it runs
  recalled = 4,      // asked back from its worker; not a second time from the same
  abandoned = 8,     // a hold that nobody wants any more: it ends as soon as it can
};

inline constexpr std::size_t inline_accesses = 3;
inline constexpr std::size_t closure_bytes = 64;

/// A descriptor. It is its own LazyTask if it was made for the task at once, as those of flows are.
struct alignas(64) Task : Event, LazyTask, TaskTraits {
  std::atomic<std::int32_t> wait{0};  ///< unfinished accesses before it; 0 = ready. Shared by all threads
  std::uint32_t lane = 0;             ///< the generation of the direct lane that lets it in; 0: none does
  TaskId id = no_id<TaskId>;
  Access* accesses_begin = nullptr;  ///< the inline ones, or a block of its own when there are more
  void* policy_data = nullptr;       ///< the policy's, from ready() until pick() or cancelled()
  std::exception_ptr failure;        ///< set by the worker before task_failed
  LazyTask* lazy = nullptr;          ///< what it describes; null: itself
  Bytes scratch = 0;                 ///< once admitted: where its scratch is in the memory of its node
  std::uint16_t access_count = 0;
  std::uint16_t pending_copies = 0;      ///< the engine's: admitted, but this many copies have not landed
  NodeId node = no_id<NodeId>;           ///< the engine's: where it is admitted
  std::uint16_t width = 0;               ///< the engine's, if several workers are wanted: how many it runs on
  TaskState state = TaskState::waiting;  ///< the engine's
  std::uint8_t flags = 0;                ///< TaskFlag
  /// The engine's: which one runs, from when it is staged on a worker of a kind that its codelet has several
  /// for.
  std::uint8_t implementation = no_implementation;
  /// Completes without running: an input is poisoned, or its flow was cancelled. A byte of its own, since
  /// whoever completes the task looks at it while the engine sets flags.
  bool cancelled = false;
  TaskRole role = TaskRole::program;
  std::array<Access, inline_accesses> inline_access;
  alignas(16) std::array<std::byte, closure_bytes> closure;  ///< the body's arguments other than data

  /// Begins anew, with so many accesses, which are not filled in. What it asks for is left alone.
  void begin(TaskId name, Access* accesses, std::size_t count) noexcept {
    kind = EventKind::task_ready;
    worker = no_id<WorkerId>;
    lane = 0;
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
  /// Who made it and learns of its completion.
  TaskSource* source() const noexcept { return family->source; }
  /// See RoleTraits. Most tasks are the program's.
  bool by_worker() const noexcept { return role == TaskRole::program || traits_of(role).by_worker; }
  bool at_home() const noexcept { return role != TaskRole::program && traits_of(role).at_home; }
  bool passes_claims() const noexcept { return role != TaskRole::program && traits_of(role).passes_claims; }
  std::span<Access> accesses() noexcept { return {accesses_begin, access_count}; }
  std::span<const Access> accesses() const noexcept { return {accesses_begin, access_count}; }
  bool has(TaskFlag flag) const noexcept { return (flags & static_cast<std::uint8_t>(flag)) != 0; }
  void set(TaskFlag flag) noexcept { flags |= static_cast<std::uint8_t>(flag); }
  void clear(TaskFlag flag) noexcept { flags &= static_cast<std::uint8_t>(~static_cast<std::uint8_t>(flag)); }
};
static_assert(sizeof(Task) == 5 * 64, "what waits takes memory: a new field has to find a gap");

/// The end of a hold; it may come while the hold still waits.
struct HoldRelease : Event {
  Task* hold = nullptr;  ///< null in a replay, if it was over by then
  bool unused = false;   ///< nobody has touched the data: what was to be written was not
  bool granted = false;  ///< said by the engine: its source is told, or will be, that the hold has its data
  std::atomic<bool> applied{false};  ///< the engine has seen it and will not look at it again
};

/// The newest values of these data are to be at home, as far as no task is changing them.
struct RefreshRequest : Event {
  std::vector<DatumId> data;
};

/// A device is lost: what was in its memory is gone, its workers begin nothing more. What had begun there, tasks as well
/// as copies to and from it, ends afterwards, and as failed; tasks that had not begun are given back when asked for.
struct NodeLoss : Event {
  NodeId node = no_id<NodeId>;
  std::string words{};  ///< what the device's driver says
};

}  // namespace fairlead
