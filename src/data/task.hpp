// The descriptor of a task: what front ends fill in, the graph counts down, policies order and the engine
// runs. One object from submission to completion; each field has one owner at a time (docs/concepts.md).
#pragma once
#include <fairlead/access.hpp>
#include <fairlead/ids.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "base/event.hpp"

namespace fairlead {

struct CodeletInfo;
struct Task;
class TaskSource;
namespace graph {
struct Epoch;
}

/// One datum that a task uses. Written by the submitter; `address` by the engine when the task is admitted.
struct Access {
  Task* task = nullptr;
  graph::Epoch* epoch = nullptr;  ///< the graph's: the group of accesses it belongs to
  union {
    Access* next_waiter = nullptr;  ///< while the task waits: next in its epoch's list
    void* address;                  ///< once admitted: where the datum is for this task
  };
  DatumId datum = no_id<DatumId>;
  AccessMode mode = AccessMode::read;
  bool packed =
      false;  ///< once admitted: `address` is a copy without gaps between columns, not memory used in place
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
  told_started = 2,  // the policy knows that it runs
  recalled = 4,      // asked back from its worker; not a second time from the same
};

/// Where in the user's program a task was submitted; for messages.
struct SubmitLine {
  const char* file = "";
  std::uint32_t line = 0;
};

inline constexpr std::size_t inline_accesses = 3;
inline constexpr std::size_t closure_bytes = 64;

struct alignas(64) Task : Event {
  std::atomic<std::int32_t> wait{0};  ///< unfinished accesses before it; 0 = ready. Shared by all threads
  std::int32_t priority = 0;          ///< higher first; a policy may look at it
  TaskId id = no_id<TaskId>;
  const CodeletInfo* codelet = nullptr;
  TaskSource* source = nullptr;      ///< who made it and learns of its completion
  Access* accesses_begin = nullptr;  ///< the inline ones, or a block of its own when there are more
  void* policy_data = nullptr;       ///< the policy's, from ready() until pick() or cancelled()
  std::exception_ptr failure;        ///< set by the worker before task_failed
  SubmitLine submitted_at;
  std::uint16_t access_count = 0;
  std::uint16_t pending_copies = 0;      ///< the engine's: admitted, but this many copies have not landed
  TaskState state = TaskState::waiting;  ///< the engine's
  std::uint8_t flags = 0;                ///< TaskFlag
  NodeId node = no_id<NodeId>;           ///< the engine's: where it is admitted
  bool cancelled =
      false;  ///< completes without running: an input is poisoned, or its flow was cancelled. A byte
              ///< of its own, since whoever completes the task looks at it while the engine sets flags
  std::array<Access, inline_accesses> inline_access;
  alignas(16) std::array<std::byte, closure_bytes> closure;  ///< the body's arguments other than data

  std::span<Access> accesses() noexcept { return {accesses_begin, access_count}; }
  std::span<const Access> accesses() const noexcept { return {accesses_begin, access_count}; }
  bool has(TaskFlag flag) const noexcept { return (flags & static_cast<std::uint8_t>(flag)) != 0; }
  void set(TaskFlag flag) noexcept { flags |= static_cast<std::uint8_t>(flag); }
};

}  // namespace fairlead
