// The ready tasks of one worker while no lock stands before them: its thread puts them in at one end, takes
// them out at the other, oldest first, and others steal half of them from there.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "data/task.hpp"
#include "graph/recorded.hpp"

namespace fairlead::engine {

/// What waits in a queue: a task, or a recorded one that gets its descriptor when it is run.
class LaneItem {
 public:
  LaneItem() = default;
  LaneItem(Task& task) noexcept : bits_(reinterpret_cast<std::uintptr_t>(&task)) {}
  LaneItem(graph::RecordedTask& task) noexcept
      : bits_(reinterpret_cast<std::uintptr_t>(&task) | recorded_bit) {}

  explicit operator bool() const noexcept { return bits_ != 0; }
  bool is_recorded() const noexcept { return (bits_ & recorded_bit) != 0; }
  /// Only of the kind that it is.
  Task* task() const noexcept { return reinterpret_cast<Task*>(bits_); }
  graph::RecordedTask* recorded() const noexcept {
    return reinterpret_cast<graph::RecordedTask*>(bits_ - recorded_bit);
  }
  bool operator==(const LaneItem&) const = default;

 private:
  static constexpr std::uintptr_t recorded_bit = 1;  // both begin cache lines
  std::uintptr_t bits_ = 0;
};

/// put() and take() are one thread's, steal() is anybody's. A ring between two counts that only grow: who
/// moves `first_` on has the tasks that it passed.
class LaneQueue {
 public:
  static constexpr std::size_t capacity = 4096, most_stolen = 64;

  /// False if it is full. Sequentially consistent: whoever puts and then looks whether somebody sleeps, and
  /// who falls asleep and then looks here, do not miss each other.
  bool put(LaneItem item) noexcept {
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    if (!has_room(end)) return false;
    slots_[end % capacity].store(item, std::memory_order_relaxed);
    end_.store(end + 1);
    return true;
  }
  /// The same where nobody steals or sleeps.
  bool put_alone(LaneItem item) noexcept {
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    if (!has_room(end)) return false;
    slots_[end % capacity].store(item, std::memory_order_relaxed);
    end_.store(end + 1, std::memory_order_relaxed);
    return true;
  }

  /// The oldest, or nothing.
  LaneItem take() noexcept {
    std::uint32_t first = first_.load(std::memory_order_relaxed);
    for (;;) {
      if (first == end_.load(std::memory_order_relaxed)) return {};
      const LaneItem item = slots_[first % capacity].load(std::memory_order_relaxed);
      // A thief may have been first; then his count is what we go on with. Nothing of his is read: relaxed.
      // release: who finds the queue empty sees that we are inside, see DirectLane::still().
      if (!first_.compare_exchange_weak(first, first + 1, std::memory_order_release,
                                        std::memory_order_relaxed))
        continue;
      look_ahead(first + 1);
      return item;
    }
  }
  LaneItem take_alone() noexcept {
    const std::uint32_t first = first_.load(std::memory_order_relaxed);
    if (first == end_.load(std::memory_order_relaxed)) return {};
    first_.store(first + 1, std::memory_order_relaxed);
    const LaneItem item = slots_[first % capacity].load(std::memory_order_relaxed);
    if (item.is_recorded()) look_ahead_alone(first + 1);
    return item;
  }

  /// Half of the tasks, rounded up, oldest first, at most `most_stolen`; returns how many. Any thread.
  std::size_t steal(std::array<LaneItem, most_stolen>& out) noexcept {
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

  /// Any thread; sequentially consistent, see put().
  bool empty() const noexcept { return first_.load() == end_.load(); }
  std::size_t size() const noexcept { return end_.load() - first_.load(); }

 private:
  /// What is next may come from another core, or from far away. Only lines are fetched: a thief may have had
  /// it, and it may be over.
  void look_ahead(std::uint32_t next) const noexcept {
    const LaneItem item = slots_[next % capacity].load(std::memory_order_relaxed);
    if (item.is_recorded()) return fetch_block(next + blocks_ahead);
    const auto* task = reinterpret_cast<const char*>(item.task());
    for (std::size_t at = 0; at < sizeof(Task); at += 64) __builtin_prefetch(task + at, 1);
  }
  /// The same where nobody steals: also what is written when the next one is over.
  void look_ahead_alone(std::uint32_t next) const noexcept {
    if (next == end_.load(std::memory_order_relaxed)) return;
    const LaneItem item = slots_[next % capacity].load(std::memory_order_relaxed);
    if (!item.is_recorded()) return;
    fetch_block(next + blocks_ahead);
    item.recorded()->kind->run->look_ahead(*item.recorded());
  }
  void fetch_block(std::uint32_t at) const noexcept {
    const LaneItem item = slots_[at % capacity].load(std::memory_order_relaxed);
    if (item.is_recorded()) __builtin_prefetch(item.recorded(), 1);
  }
  bool has_room(std::uint32_t end) noexcept {
    if (end - seen_first_ < capacity) return true;
    seen_first_ = first_.load(std::memory_order_acquire);
    return end - seen_first_ < capacity;
  }

  static constexpr std::uint32_t blocks_ahead = 4;

  alignas(64) std::atomic<std::uint32_t> first_{0};
  alignas(64) std::atomic<std::uint32_t> end_{0};
  std::uint32_t seen_first_ = 0;  // the owner's: first_ when it last looked
  std::array<std::atomic<LaneItem>, capacity> slots_{};
};

}  // namespace fairlead::engine
