// The ready tasks of one worker, without locks. Its thread puts tasks in at one end and takes the oldest from the
// other, where other threads steal half of them. When the ring is full, the youngest tasks wait in an overflow list,
// which only the owner uses.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/prefetch.hpp"
#include "data/task_source.hpp"

namespace fairlead::engine {

/// put(), keep() and take() are for the owner's thread, steal() for any thread. A ring between two counters that only
/// grow: the thread that advances `first_` owns the tasks that it passed.
class StealingQueue {
 public:
  static constexpr std::size_t capacity = 4096, most_stolen = 64;

  /// Returns false if the ring is full. Sequentially consistent: a thread that puts a task and then looks for sleepers,
  /// and one that announces its sleep and then checks this queue, cannot miss each other.
  bool put(LazyTask& task) noexcept {
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    if (!has_room(end)) return false;
    slots_[end % capacity].store(&task, std::memory_order_relaxed);
    end_.store(end + 1);
    return true;
  }
  /// As put(), for a single worker, where no other thread steals or sleeps.
  bool put_single_threaded(LazyTask& task) noexcept {
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    if (!has_room(end)) return false;
    slots_[end % capacity].store(&task, std::memory_order_relaxed);
    end_.store(end + 1, std::memory_order_relaxed);
    return true;
  }

  /// As put() or put_single_threaded(), for a thread that also takes: if the ring is full, the task goes to the overflow list.
  /// Returns false if memory is exhausted.
  bool put_or_overflow(LazyTask& task, bool alone) noexcept {
    if (kept_count_.load(std::memory_order_relaxed) == 0 && (alone ? put_single_threaded(task) : put(task)))
        [[likely]]
      return true;
    return keep(task);
  }

  /// The oldest task, or null.
  LazyTask* take() noexcept {
    if (kept_count_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      refill_from_overflow();
    std::uint32_t first = first_.load(std::memory_order_relaxed);
    for (;;) {
      if (first == end_.load(std::memory_order_relaxed)) return nullptr;
      LazyTask* const task = slots_[first % capacity].load(std::memory_order_relaxed);
      // A thief may have advanced the counter first; continue from its value. Relaxed, since no data of the thief are
      // read. release: a thread that finds the queue empty sees that this worker is inside, see FastPath::is_quiescent().
      if (!first_.compare_exchange_weak(first, first + 1, std::memory_order_release,
                                        std::memory_order_relaxed))
        continue;
      look_ahead(*task, first + 1);
      return task;
    }
  }
  /// As take(), for a single worker. Also prefetches what will be written when the next task finishes.
  LazyTask* take_single_threaded() noexcept {
    if (kept_count_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      refill_from_overflow();
    const std::uint32_t first = first_.load(std::memory_order_relaxed);
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    if (first == end) return nullptr;
    first_.store(first + 1, std::memory_order_relaxed);
    LazyTask* const task = slots_[first % capacity].load(std::memory_order_relaxed);
    if (task->family->described) return task;  // the descriptors of a single thread are in its cache
    fetch(first + 1 + lazy_ahead, sizeof(LazyTask));
    if (first + 1 == end) return task;
    const LazyTask* const next = slots_[(first + 1) % capacity].load(std::memory_order_relaxed);
    next->family->source->look_ahead(*next);
    return task;
  }

  /// The oldest task of the overflow list, or null. For an owner that takes no more tasks from the ring.
  LazyTask* take_kept() noexcept {
    return kept_count_.load(std::memory_order_relaxed) == 0 ? nullptr : oldest_kept();
  }

  /// Takes half of the tasks, rounded up, oldest first, at most `most_stolen`; returns the number. Any thread.
  std::size_t steal(std::array<LazyTask*, most_stolen>& out) noexcept {
    std::uint32_t first = first_.load(std::memory_order_relaxed);
    for (;;) {
      // acquire: sees the slots, and the tasks as they were put.
      const std::uint32_t count = end_.load(std::memory_order_acquire) - first;
      const std::uint32_t wanted = std::min<std::uint32_t>(count - count / 2, most_stolen);
      // if more, `first` is outdated and the queue empty by now
      if (count == 0 || count > capacity) return 0;
      for (std::uint32_t i = 0; i < wanted; ++i)
        out[i] = slots_[(first + i) % capacity].load(std::memory_order_relaxed);
      // release: the owner, which acquires in has_room(), reuses the slots only after they were read.
      if (first_.compare_exchange_strong(first, first + wanted, std::memory_order_acq_rel,
                                         std::memory_order_relaxed))
        return wanted;
    }
  }

  /// Any thread; sequentially consistent, see put(). The overflow count is read first: move_up() puts a task into the
  /// ring before it lowers that count.
  bool empty() const noexcept { return kept_count_.load() == 0 && first_.load() == end_.load(); }
  std::size_t size() const noexcept {
    const std::size_t kept = kept_count_.load();
    return kept + (end_.load() - first_.load());
  }

 private:
  /// Prefetches the next task, which may come from another core or main memory. Reads no field, since a thief may have
  /// taken the task and finished it; so it is assumed to be of the last one's kind.
  void look_ahead(const LazyTask& last, std::uint32_t next) const noexcept {
    if (last.family->described)
      fetch(next, sizeof(Task));
    else
      fetch(next + lazy_ahead, sizeof(LazyTask));
  }
  void fetch(std::uint32_t at, std::size_t bytes) const noexcept {
    prefetch<FetchedFor::reading>(slots_[at % capacity].load(std::memory_order_relaxed), bytes);
  }
  bool has_room(std::uint32_t end) noexcept {
    if (end - seen_first_ < capacity) return true;
    seen_first_ = first_.load(std::memory_order_acquire);
    return end - seen_first_ < capacity;
  }

  bool keep(LazyTask& task) noexcept;
  LazyTask* oldest_kept() noexcept;
  /// Moves tasks from the overflow list to the ring when half of the ring is free.
  void refill_from_overflow() noexcept;

  static constexpr std::uint32_t lazy_ahead = 4;

  alignas(64) std::atomic<std::uint32_t> first_{0};
  alignas(64) std::atomic<std::uint32_t> end_{0};
  std::uint32_t seen_first_ = 0;            // used by the owner only: first_ when last read
  std::atomic<std::size_t> kept_count_{0};  // written by the owner
  // used by the owner only: oldest first, all younger than those in the ring
  std::deque<LazyTask*> overflow_;
  std::array<std::atomic<LazyTask*>, capacity> slots_{};
};

}  // namespace fairlead::engine
