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
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include "data/task_source.hpp"
#include "graph/graph.hpp"

namespace fairlead::graph {

class RecordedRun;

/// What several tasks have in common.
struct RecordedFamily : TaskFamily {
  TaskTraits traits;
  bool may_pass = false;  ///< by the direct lane, if its data may
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
struct alignas(64) RecordedTask : LazyTask {
  static constexpr std::size_t own_successors = 2;

  std::int32_t wait = 0;  ///< predecessors that are not over; shared by all threads, as an atomic
  std::int32_t predecessors = 0;
  std::uint32_t number = 0;
  std::uint32_t successor_count = 0;
  /// Their places; if there are more, the first is where those begin in the list of all of them.
  std::array<std::uint32_t, own_successors> successors{};
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
  const RecordedFamily& own_family() const noexcept { return *static_cast<const RecordedFamily*>(family); }
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
  std::vector<std::uint32_t> initial;     ///< places of those that wait for nothing
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
  /// The task is over. False if more became ready than there was room for: more() has the rest.
  bool release(const Task& over, ReadyTasks& ready) {
    auto& task = static_cast<RecordedTask&>(*over.lazy);
    // For the next run: in this one nobody counts it any more.
    std::atomic_ref(task.wait).store(task.predecessors, std::memory_order_relaxed);
    Rest rest{&task, 0, over.worker, over.at};
    if (go_on(rest, ready)) [[likely]]
      return true;
    keep(rest);
    return false;
  }
  /// Before a run: nothing is handed out.
  void begin() noexcept { next_initial_ = 0; }
  /// Hands out tasks that wait for nothing, or what release() has left. True if there is still more. One
  /// thread at a time.
  bool more(ReadyTasks& ready);
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

 private:
  /// A release that is not over.
  struct Rest {
    const RecordedTask* over;
    std::uint32_t next;  // of its successors
    WorkerId worker;     // that released them
    Time at;
  };
  /// False if there is something left, as much as it says now.
  bool go_on(Rest& rest, ReadyTasks& ready) {
    const std::span<const std::uint32_t> all = successors_of(*rest.over);
    for (; rest.next < all.size(); ++rest.next) {
      if (ready.full()) [[unlikely]]
        return false;
      RecordedTask& next = blocks.at(all[rest.next]);
      if (counted_down(next)) hand_out(next, rest.worker, rest.at, ready);
    }
    return true;
  }
  void keep(const Rest& rest);
  void hand_out(RecordedTask& task, WorkerId released_by, Time at, ReadyTasks& ready) {
    if (task.passes && ready.lane == lane) [[likely]]
      return ready.add(static_cast<LazyTask&>(task));
    hand_to_engine(task, released_by, at, ready);
  }
  void hand_to_engine(RecordedTask& task, WorkerId released_by, Time at, ReadyTasks& ready);
  /// One of those that it waits for is over. True if that was the last.
  bool counted_down(RecordedTask& next) const noexcept {
    const std::atomic_ref wait(next.wait);
    if (alone) {
      const std::int32_t before = wait.load(std::memory_order_relaxed);
      wait.store(before - 1, std::memory_order_relaxed);
      return before == 1;
    }
    // 1: only this one is missing, so no other thread can touch the count. acq_rel: sees what they did.
    return wait.load(std::memory_order_acquire) == 1 || wait.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  std::size_t next_initial_ = 0;  // more()'s
  std::mutex mutex_;              // guards rests_
  std::vector<Rest> rests_;
};

}  // namespace fairlead::graph
