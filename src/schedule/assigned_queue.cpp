// Two orders of the same tasks: lists by priority, and a heap by missing bytes.
#include "schedule/assigned_queue.hpp"

#include <algorithm>

namespace fairlead::schedule {

void AssignedQueue::insert(Queued& queued, std::int32_t priority) {
  queued.priority = priority;
  queued.order = ++order_;
  Bucket& bucket = buckets_[priority];
  queued.previous = bucket.back;
  queued.next = nullptr;
  (bucket.back != nullptr ? bucket.back->next : bucket.front) = &queued;
  bucket.back = &queued;
  ++size_;
  if (!by_bytes_) return;
  heap_.push_back(item_of(queued));
  place(heap_.size() - 1, heap_.back());
}

void AssignedQueue::erase(Queued& queued) {
  const auto bucket = buckets_.find(queued.priority);
  (queued.previous != nullptr ? queued.previous->next : bucket->second.front) = queued.next;
  (queued.next != nullptr ? queued.next->previous : bucket->second.back) = queued.previous;
  queued.previous = queued.next = nullptr;
  // The last one stays: with a single priority nothing is allocated over and over.
  if (bucket->second.front == nullptr && buckets_.size() > 1) buckets_.erase(bucket);
  --size_;
  if (!by_bytes_) return;
  const std::size_t at = queued.position;
  const Item last = heap_.back();
  heap_.pop_back();
  if (at < heap_.size()) place(at, last);
}

void AssignedQueue::place(std::size_t at, Item item) noexcept {
  constexpr std::size_t children = 4;
  for (; at > 0 && before(item, heap_[(at - 1) / children]); at = (at - 1) / children)
    set(at, heap_[(at - 1) / children]);
  for (std::size_t first = children * at + 1; first < heap_.size(); first = children * at + 1) {
    std::size_t best = first;
    for (std::size_t child = first + 1; child < std::min(first + children, heap_.size()); ++child)
      if (before(heap_[child], heap_[best])) best = child;
    if (!before(heap_[best], item)) break;
    set(at, heap_[best]);
    at = best;
  }
  set(at, item);
}

}  // namespace fairlead::schedule
