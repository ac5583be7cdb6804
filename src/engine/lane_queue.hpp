// The ready tasks of one worker while no lock stands before them: its thread puts them in at one end, takes
// them out at the other, oldest first, and others steal half of them from there. Of more than there is room for
// the youngest wait behind, where nobody steals.
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

/// put(), keep() and take() are one thread's, steal() is anybody's. A ring between two counts that only grow: who
/// moves `first_` on has the tasks that it passed.
class LaneQueue {
 public:
  static constexpr std::size_t capacity = 4096, most_stolen = 64;

  /// False if it is full. Sequentially consistent: whoever puts and then looks whether somebody sleeps, and
  /// who falls asleep and then looks here, do not miss each other.
  bool put(LazyTask& task) noexcept {
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    if (!has_room(end)) return false;
    slots_[end % capacity].store(&task, std::memory_order_relaxed);
    end_.store(end + 1);
    return true;
  }
  /// The same where nobody steals or sleeps.
  bool put_alone(LazyTask& task) noexcept {
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    if (!has_room(end)) return false;
    slots_[end % capacity].store(&task, std::memory_order_relaxed);
    end_.store(end + 1, std::memory_order_relaxed);
    return true;
  }

  /// As put(), or put_alone(), of a thread that takes: what there is no room for waits behind. False if there is no memory.
  bool put_or_keep(LazyTask& task, bool alone) noexcept {
    if (kept_count_.load(std::memory_order_relaxed) == 0 && (alone ? put_alone(task) : put(task))) [[likely]]
      return true;
    return keep(task);
  }

  /// The oldest, or nothing.
  LazyTask* take() noexcept {
    if (kept_count_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      move_up();
    std::uint32_t first = first_.load(std::memory_order_relaxed);
    for (;;) {
      if (first == end_.load(std::memory_order_relaxed)) return nullptr;
      LazyTask* const task = slots_[first % capacity].load(std::memory_order_relaxed);
      // A thief may have been first; then his count is what we go on with. Nothing of his is read: relaxed.
      // release: who finds the queue empty sees that we are inside, see DirectLane::still().
      if (!first_.compare_exchange_weak(first, first + 1, std::memory_order_release,
                                        std::memory_order_relaxed))
        continue;
      look_ahead(*task, first + 1);
      return task;
    }
  }
  /// The same where nobody steals. Also what is written when the next one is over comes meanwhile.
  LazyTask* take_alone() noexcept {
    if (kept_count_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      move_up();
    const std::uint32_t first = first_.load(std::memory_order_relaxed);
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    if (first == end) return nullptr;
    first_.store(first + 1, std::memory_order_relaxed);
    LazyTask* const task = slots_[first % capacity].load(std::memory_order_relaxed);
    if (task->family->described) return task;  // one thread's descriptors are here anyway
    fetch(first + 1 + lazy_ahead, sizeof(LazyTask));
    if (first + 1 == end) return task;
    const LazyTask* const next = slots_[(first + 1) % capacity].load(std::memory_order_relaxed);
    next->family->source->look_ahead(*next);
    return task;
  }

  /// The oldest of what waits behind, or nothing: the owner takes no more.
  LazyTask* take_kept() noexcept {
    return kept_count_.load(std::memory_order_relaxed) == 0 ? nullptr : oldest_kept();
  }

  /// Half of the tasks, rounded up, oldest first, at most `most_stolen`; returns how many. Any thread.
  std::size_t steal(std::array<LazyTask*, most_stolen>& out) noexcept {
    std::uint32_t first = first_.load(std::memory_order_relaxed);
    for (;;) {
      // acquire: sees the slots, and the tasks as they were put.
      const std::uint32_t count = end_.load(std::memory_order_acquire) - first;
      const std::uint32_t wanted = std::min<std::uint32_t>(count - count / 2, most_stolen);
      if (count == 0 || count > capacity) return 0;  // more: `first` is an old one, and so empty by now
      for (std::uint32_t i = 0; i < wanted; ++i)
        out[i] = slots_[(first + i) % capacity].load(std::memory_order_relaxed);
      // release: the owner, who acquires in has_room(), uses the slots anew only after they were read.
      if (first_.compare_exchange_strong(first, first + wanted, std::memory_order_acq_rel,
                                         std::memory_order_relaxed))
        return wanted;
    }
  }

  /// Any thread; sequentially consistent, see put(). What is kept is looked at first: it is put before it is kept no more.
  bool empty() const noexcept { return kept_count_.load() == 0 && first_.load() == end_.load(); }
  std::size_t size() const noexcept {
    const std::size_t kept = kept_count_.load();
    return kept + (end_.load() - first_.load());
  }

 private:
  /// What is next may come from another core, or from far away. Only lines are fetched: a thief may have had
  /// it, and it may be over. So it is taken to be like the last one.
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
  /// When half of the ring is free.
  void move_up() noexcept;

  static constexpr std::uint32_t lazy_ahead = 4;

  alignas(64) std::atomic<std::uint32_t> first_{0};
  alignas(64) std::atomic<std::uint32_t> end_{0};
  std::uint32_t seen_first_ = 0;            // the owner's: first_ when it last looked
  std::atomic<std::size_t> kept_count_{0};  // written by the owner
  std::deque<LazyTask*> kept_;              // the owner's: oldest first, all younger than those in the ring
  std::array<std::atomic<LazyTask*>, capacity> slots_{};
};

}  // namespace fairlead::engine
