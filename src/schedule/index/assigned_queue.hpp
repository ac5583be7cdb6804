// Tasks that wait for one worker: most urgent first, and, if asked for, also by how many bytes they miss on
// the worker's node. One can be taken out anywhere: all that is done to one task costs a logarithm.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include "data/task.hpp"
#include "schedule/index/indexed_heap.hpp"

namespace fairlead::schedule {

/// A task as its queue knows it; part of what the policy keeps of the task.
struct Queued {
  Task* task = nullptr;
  std::int32_t priority = 0;
  std::uint64_t order = 0;       ///< of arrival in the queue
  Bytes missing = 0;             ///< on the worker's node; kept by MissingBytes
  std::uint32_t generation = 0;  ///< counts departures: with another one, references to it are void
  std::uint32_t position = 0;    ///< in the queue's heap
  Queued* previous = nullptr;    ///< of the same priority
  Queued* next = nullptr;
};

class AssignedQueue {
 public:
  /// What nearest() is to choose among.
  enum class Nearest : std::uint8_t {
    never_asked,     // no order by bytes is kept
    all,             // of all tasks that which misses the fewest bytes, of equal ones the most urgent
    first_priority,  // of those of the highest priority that which misses the fewest bytes
  };
  explicit AssignedQueue(Nearest nearest)
      : by_bytes_(nearest != Nearest::never_asked), before_{nearest == Nearest::first_priority} {}

  std::size_t size() const noexcept { return size_; }
  bool first_priority_only() const noexcept { return before_.priority_first; }

  /// `missing` is set; priority and order are set here.
  void insert(Queued& queued, std::int32_t priority);
  void erase(Queued& queued);
  /// `missing` is another one now.
  void missing_changed(Queued& queued) { heap_.replace(queued.position, item_of(queued), before_); }

  /// Calls f(queued) in order of urgency, then of arrival, until it returns false.
  template <class F>
  void for_each_while(F&& f) const {
    for (const auto& [priority, bucket] : buckets_)
      for (Queued* queued = bucket.front; queued != nullptr; queued = queued->next)
        if (!f(*queued)) return;
  }
  /// The most urgent task that satisfies the condition; null if none does.
  template <class Condition>
  Queued* first(Condition&& condition) const {
    Queued* found = nullptr;
    for_each_while([&](Queued& queued) {
      if (condition(*queued.task)) found = &queued;
      return found == nullptr;
    });
    return found;
  }
  /// Of those that satisfy the condition, see Nearest. Quick if nearly all satisfy it.
  template <class Condition>
  Queued* nearest(Condition&& condition) const {
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
  struct Item {  // what it is compared by is here: the heap is looked at more often than the tasks
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
