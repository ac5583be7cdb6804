// Two orders of the same tasks: lists by priority, and a heap by missing bytes.
#include "schedule/index/assigned_queue.hpp"

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
  if (by_bytes_) heap_.push(item_of(queued), before_);
}

void AssignedQueue::erase(Queued& queued) {
  const auto bucket = buckets_.find(queued.priority);
  (queued.previous != nullptr ? queued.previous->next : bucket->second.front) = queued.next;
  (queued.next != nullptr ? queued.next->previous : bucket->second.back) = queued.previous;
  queued.previous = queued.next = nullptr;
  // The last bucket is kept, so that a program with a single priority does not allocate repeatedly.
  if (bucket->second.front == nullptr && buckets_.size() > 1) buckets_.erase(bucket);
  --size_;
  if (by_bytes_) heap_.erase(queued.position, before_);
}

}  // namespace fairlead::schedule
