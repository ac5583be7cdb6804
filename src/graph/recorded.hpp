// Recorded tasks: their order was found once, and each run only counts down. A task lies in one block, with
// all that running it needs, mostly one cache line; it has a descriptor only while it runs, or while the
// engine has it (docs/how-it-works.md).
#pragma once
#include <fairlead/access.hpp>
#include <fairlead/codelet_info.hpp>
#include <fairlead/ids.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace fairlead::graph {

class RecordedRun;

/// What several tasks have in common.
struct RecordedKind {
  RecordedRun* run = nullptr;
  const CodeletInfo* codelet = nullptr;
  SubmitLine submitted_at;
  Bytes scratch_bytes = 0;
  std::int32_t priority = 0;
  std::uint32_t nodes_excluded = 0;
  float work = 0;
  std::uint16_t workers_wanted = 0;
  PlaceHint place;
  bool may_pass = false;  ///< they ask for nothing that the direct lane has not

  bool operator==(const RecordedKind&) const = default;
};

/// A datum of the recording: where tasks of the direct lane find it.
struct RecordedUse {
  void* address = nullptr;
  DatumId datum = no_id<DatumId>;
  bool packed = false;  ///< as Access::packed
};

/// Which of them a task uses, and how.
class RecordedAccess {
 public:
  static constexpr unsigned mode_bits = 3;
  RecordedAccess(std::uint32_t use, AccessMode mode) noexcept
      : bits_(use << mode_bits | static_cast<std::uint32_t>(mode)) {}
  std::uint32_t use() const noexcept { return bits_ >> mode_bits; }
  AccessMode mode() const noexcept { return static_cast<AccessMode>(bits_ & ((1u << mode_bits) - 1)); }

 private:
  std::uint32_t bits_;
};

/// The beginning of a task's block; its accesses and its closure follow. As many whole cache lines as it
/// takes, so that two workers never write to the same one.
struct alignas(64) RecordedTask {
  static constexpr std::size_t own_successors = 2;

  std::int32_t wait = 0;  ///< predecessors that are not over; shared by all threads, as an atomic
  std::int32_t predecessors = 0;
  std::uint32_t number = 0;
  std::uint32_t successor_count = 0;
  /// Their places; if there are more, the first is where those begin in the list of all of them.
  std::array<std::uint32_t, own_successors> successors{};
  const RecordedKind* kind = nullptr;
  std::uint16_t access_count = 0;
  bool passes = false;  ///< in the present generation of the lane

  static constexpr std::size_t accesses_at = 36;
  static constexpr std::size_t closure_at(std::size_t accesses) noexcept {
    return (accesses_at + accesses * sizeof(RecordedAccess) + 15) / 16 * 16;
  }
  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this); }
  const RecordedAccess* accesses() const noexcept {
    return reinterpret_cast<const RecordedAccess*>(reinterpret_cast<const std::byte*>(this) + accesses_at);
  }
  void set_access(std::size_t i, RecordedAccess access) noexcept {
    new (bytes() + accesses_at + i * sizeof access) RecordedAccess(access);
  }
  std::byte* closure() noexcept { return bytes() + closure_at(access_count); }
};

/// The blocks of a recording, in the order of recording. They stay where they are; a place is a number of
/// lines.
class RecordedBlocks {
 public:
  RecordedBlocks() = default;
  RecordedBlocks(const RecordedBlocks&) = delete;
  RecordedBlocks& operator=(const RecordedBlocks&) = delete;
  ~RecordedBlocks();

  /// A block with room for so much; its place.
  std::uint32_t add(std::size_t accesses, std::size_t closure_bytes);
  RecordedTask& at(std::uint32_t place) const noexcept {
    return chunks_[place / lines_in_chunk][place % lines_in_chunk];
  }

 private:
  static constexpr std::uint32_t lines_in_chunk = 1u << 15;  // 2 MiB, a huge page

  std::vector<RecordedTask*> chunks_;
  std::uint32_t used_ = lines_in_chunk;  // of the last one
};

/// What the tasks of a recording need while they run.
class RecordedRun {
 public:
  RecordedBlocks blocks;
  std::vector<RecordedUse> uses;
  std::vector<std::uint32_t> successors;  ///< of tasks that have many
  TaskSource* source = nullptr;
  std::uint32_t lane = 0;
  std::uint64_t first_id = 0;
  std::vector<Task*> made;  ///< by number, if all have got their descriptors at once
  /// One thread alone touches the counts: the only worker's, as long as it has given no task to the engine,
  /// from which others might take it. Changed by that thread.
  bool alone = false;

  /// The task's descriptor, filled in.
  Task& describe(RecordedTask& recorded, Recycler& recycler) {
    return made.empty() ? make(recorded, recycler) : *made[recorded.number];
  }
  Task& make(RecordedTask& recorded, Recycler& recycler);

  /// The task is over: calls f(RecordedTask&) for those that became ready. Any thread.
  template <class F>
  void release(RecordedTask& over, F&& f) {
    // For the next run: in this one nobody counts it any more.
    std::atomic_ref(over.wait).store(over.predecessors, std::memory_order_relaxed);
    for (const std::uint32_t place : successors_of(over)) {
      RecordedTask& next = blocks.at(place);
      const std::atomic_ref wait(next.wait);
      if (alone) {
        const std::int32_t before = wait.load(std::memory_order_relaxed);
        wait.store(before - 1, std::memory_order_relaxed);
        if (before != 1) continue;
        // 1: only this one is missing, so no other thread can touch the count. acq_rel: sees what they did.
      } else if (wait.load(std::memory_order_acquire) != 1 &&
                 wait.fetch_sub(1, std::memory_order_acq_rel) != 1) {
        continue;
      }
      f(next);
    }
  }
  /// The same for the engine: their descriptors are appended to `ready`.
  static void release(const Task& over, EventChain& ready, Recycler& recycler);
  /// The task has a descriptor that goes to the engine, where other threads may find it.
  static void given_away(const Task& task) noexcept {
    if (task.recorded != nullptr && task.recorded->kind->run->alone) task.recorded->kind->run->alone = false;
  }
  /// The lines that are written when the task is over come while others run.
  void look_ahead(const RecordedTask& task) const noexcept {
    if (task.successor_count > RecordedTask::own_successors)
      return __builtin_prefetch(&successors[task.successors[0]]);
    for (std::size_t i = 0; i < task.successor_count; ++i)
      __builtin_prefetch(&blocks.at(task.successors[i]), 1);
  }
  std::span<const std::uint32_t> successors_of(const RecordedTask& task) const noexcept {
    return {task.successor_count <= RecordedTask::own_successors ? task.successors.data()
                                                                 : &successors[task.successors[0]],
            task.successor_count};
  }
};

}  // namespace fairlead::graph
