// Recorded tasks: their dependencies are determined once, and each run only counts down. A task is one block, mostly
// one cache line, with everything needed to run it. It has a descriptor only while it runs or the engine handles it
// (docs/how-it-works.md).
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
#include "graph/dependency_graph.hpp"

namespace fairlead::graph {

class RecordedRun;

/// The common properties of several tasks.
struct RecordedFamily : TaskFamily {
  TaskTraits traits;
  bool may_pass = false;  ///< admitted to the fast path if its data are
};

/// A datum of the recording, with its address for tasks of the fast path.
struct RecordedUse {
  void* address = nullptr;
  DatumId datum = no_id<DatumId>;
  bool packed = false;  ///< as Access::is_packed_copy
};

/// An access of a task: an index of RecordedRun::uses and the access mode.
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

/// The start of a task's block, followed by its accesses and its closure. A block consists of whole cache lines, so
/// that two workers never write to the same line.
struct alignas(64) RecordedTask : LazyTask {
  static constexpr std::size_t own_successors = 2;

  std::int32_t wait = 0;  ///< unfinished predecessors; shared by all threads, accessed as an atomic
  std::int32_t predecessors = 0;
  std::uint32_t number = 0;
  std::uint32_t successor_count = 0;
  /// Their places. If there are more, the first element is their position in RecordedRun::successors.
  std::array<std::uint32_t, own_successors> successors{};
  std::uint16_t access_count = 0;
  bool passes = false;  ///< admitted in the current generation of the fast path

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

/// The blocks of a recording, in the order of recording. They have stable addresses; a place is counted in cache lines.
class RecordedBlocks {
 public:
  RecordedBlocks() = default;
  RecordedBlocks(const RecordedBlocks&) = delete;
  RecordedBlocks& operator=(const RecordedBlocks&) = delete;
  ~RecordedBlocks();

  /// Adds a block with this many accesses and bytes of closure; returns its place.
  std::uint32_t add(std::size_t accesses, std::size_t closure_bytes);
  RecordedTask& at(std::uint32_t place) const noexcept {
    return chunks_[place / lines_in_chunk][place % lines_in_chunk];
  }

 private:
  static constexpr std::uint32_t lines_in_chunk = 1u << 15;  // 2 MiB, a huge page

  std::vector<RecordedTask*> chunks_;
  std::uint32_t used_ = lines_in_chunk;  // lines used in the last chunk
};

/// State that the tasks of a recording use while they run.
class RecordedRun {
 public:
  RecordedBlocks blocks;
  std::vector<RecordedUse> uses;
  std::vector<std::uint32_t> successors;  ///< of tasks with more than own_successors
  std::vector<std::uint32_t> initial;     ///< places of the tasks without predecessors
  std::uint32_t fast_path = 0;
  std::uint64_t first_id = 0;
  std::vector<Task*> made;  ///< by number; used if all tasks have descriptors from the start
  /// Only one thread accesses the counters: the only worker's, until it passes a task to the engine, from where other
  /// threads might take it. Changed by that thread.
  bool alone = false;

  /// The task's descriptor, filled in.
  Task& describe(RecordedTask& recorded, Recycler& recycler) {
    return made.empty() ? make(recorded, recycler) : *made[recorded.number];
  }
  Task& make(RecordedTask& recorded, Recycler& recycler);
  /// The task is finished: hands out its successors. Returns false if `ready` is full; more() hands out the rest.
  bool release(const Task& over, ReadyTasks& ready) {
    auto& task = static_cast<RecordedTask&>(*over.lazy);
    // For the next run: in this run no thread changes it any more.
    std::atomic_ref(task.wait).store(task.predecessors, std::memory_order_relaxed);
    PendingRelease rest{&task, 0, over.worker, over.at};
    if (resume(rest, ready)) [[likely]]
      return true;
    keep(rest);
    return false;
  }
  /// Called before a run; hands out nothing.
  void begin() noexcept { next_initial_ = 0; }
  /// Hands out tasks without predecessors, or those left by release(). Returns true if more are left. One thread at a
  /// time.
  bool more(ReadyTasks& ready);
  /// Prefetches the lines that are written when the task finishes.
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
  /// An unfinished release of successors.
  struct PendingRelease {
    const RecordedTask* over;
    std::uint32_t next;  // index of the next successor
    WorkerId worker;     // the worker that finished the task
    Time at;
  };
  /// Hands out remaining successors. False if `ready` is full; `rest` then describes the remainder.
  bool resume(PendingRelease& rest, ReadyTasks& ready) {
    const std::span<const std::uint32_t> all = successors_of(*rest.over);
    for (; rest.next < all.size(); ++rest.next) {
      if (ready.full()) [[unlikely]]
        return false;
      RecordedTask& next = blocks.at(all[rest.next]);
      if (counted_down(next)) hand_out(next, rest.worker, rest.at, ready);
    }
    return true;
  }
  void keep(const PendingRelease& rest);
  void hand_out(RecordedTask& task, WorkerId released_by, Time at, ReadyTasks& ready) {
    if (task.passes && ready.fast_path == fast_path) [[likely]]
      return ready.add(static_cast<LazyTask&>(task));
    hand_to_engine(task, released_by, at, ready);
  }
  void hand_to_engine(RecordedTask& task, WorkerId released_by, Time at, ReadyTasks& ready);
  /// A predecessor of `next` is finished. Returns true if it was the last one.
  bool counted_down(RecordedTask& next) const noexcept {
    const std::atomic_ref wait(next.wait);
    if (alone) {
      const std::int32_t before = wait.load(std::memory_order_relaxed);
      wait.store(before - 1, std::memory_order_relaxed);
      return before == 1;
    }
    // 1: all other predecessors are finished, so no thread changes the count. acq_rel: sees their effects.
    return wait.load(std::memory_order_acquire) == 1 || wait.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  std::size_t next_initial_ = 0;  // used by more()
  std::mutex mutex_;              // guards rests_
  std::vector<PendingRelease> rests_;
};

}  // namespace fairlead::graph
