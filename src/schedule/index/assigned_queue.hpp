// Tasks that wait for one worker, ordered by priority and, optionally, also by the bytes missing on the worker's node.
// Any task can be removed. Each operation on one task takes logarithmic time.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include "data/task.hpp"
#include "schedule/index/indexed_heap.hpp"

namespace fairlead::schedule {

/// A task as a queue element; part of the policy's record of the task.
struct Queued {
  Task* task = nullptr;
  std::int32_t priority = 0;
  std::uint64_t order = 0;       ///< order of arrival in the queue
  Bytes missing = 0;             ///< missing on the worker's node; maintained by MissingBytes
  std::uint32_t generation = 0;  ///< incremented at each removal; references with another value are stale
  std::uint32_t position = 0;    ///< position in the queue's heap
  Queued* previous = nullptr;    ///< neighbour of the same priority
  Queued* next = nullptr;
};

class AssignedQueue {
 public:
  /// The tasks among which nearest() chooses.
  enum class LeastMissing : std::uint8_t {
    unused,          // nearest() is not used; no order by bytes is kept
    all,             // all tasks: the fewest missing bytes, then the highest priority
    first_priority,  // the tasks of the highest priority: the fewest missing bytes
  };
  explicit AssignedQueue(LeastMissing nearest)
      : by_bytes_(nearest != LeastMissing::unused), before_{nearest == LeastMissing::first_priority} {}

  std::size_t size() const noexcept { return size_; }
  bool first_priority_only() const noexcept { return before_.priority_first; }

  /// `missing` must be set; priority and order are set here.
  void insert(Queued& queued, std::int32_t priority);
  void erase(Queued& queued);
  /// Call after a change of `missing`.
  void missing_changed(Queued& queued) { heap_.replace(queued.position, item_of(queued), before_); }

  /// Calls f(queued) in order of priority, then of arrival, until it returns false.
  template <class F>
  void for_each_while(F&& f) const {
    for (const auto& [priority, bucket] : buckets_)
      for (Queued* queued = bucket.front; queued != nullptr; queued = queued->next)
        if (!f(*queued)) return;
  }
  /// The first task in that order that satisfies the condition; null if none does.
  template <class Condition>
  Queued* first(Condition&& condition) const {
    Queued* found = nullptr;
    for_each_while([&](Queued& queued) {
      if (condition(*queued.task)) found = &queued;
      return found == nullptr;
    });
    return found;
  }
  /// The best task by Nearest that satisfies the condition; null if none does. Fast if nearly all satisfy it.
  template <class Condition>
  Queued* least_missing(Condition&& condition) const {
    if (heap_.empty() || condition(*heap_.top().queued->task))
      return heap_.empty() ? nullptr : heap_.top().queued;
    const Item* best = nullptr;
    for (const Item& item : heap_)
      if ((best == nullptr || before_.before(item, *best)) && condition(*item.queued->task)) best = &item;
    return best == nullptr ? nullptr : best->queued;
  }

 private:
  struct Bucket {
    Queued* front = nullptr;
    Queued* back = nullptr;
  };
  struct Item {  // contains its own sort key, since the heap is read more often than the tasks
    Bytes missing;
    std::uint64_t order;
    Queued* queued;
    std::int32_t priority;
  };
  static Item item_of(Queued& queued) noexcept {
    return {queued.missing, queued.order, &queued, queued.priority};
  }
  struct Order {
    bool priority_first = false;
    bool before(const Item& a, const Item& b) const noexcept {
      if (priority_first && a.priority != b.priority) return a.priority > b.priority;
      if (a.missing != b.missing) return a.missing < b.missing;
      if (a.priority != b.priority) return a.priority > b.priority;
      return a.order < b.order;
    }
    static void moved(const Item& item, std::size_t at) noexcept {
      item.queued->position = static_cast<std::uint32_t>(at);
    }
  };

  std::map<std::int32_t, Bucket, std::greater<>> buckets_;
  IndexedHeap<Item, Order> heap_;
  std::size_t size_ = 0;
  std::uint64_t order_ = 0;
  bool by_bytes_;
  Order before_;
};

}  // namespace fairlead::schedule
