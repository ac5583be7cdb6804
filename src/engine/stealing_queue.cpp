// The overflow list of a StealingQueue, for tasks that do not fit into its ring.
#include "engine/stealing_queue.hpp"

#include <new>

namespace fairlead::engine {

bool StealingQueue::keep(LazyTask& task) noexcept {
  try {
    overflow_.push_back(&task);
  } catch (const std::bad_alloc&) {
    return false;
  }
  kept_count_.store(overflow_.size());
  return true;
}

LazyTask* StealingQueue::oldest_kept() noexcept {
  LazyTask* const task = overflow_.front();
  overflow_.pop_front();
  kept_count_.store(overflow_.size());
  return task;
}

void StealingQueue::refill_from_overflow() noexcept {
  if (end_.load(std::memory_order_relaxed) - first_.load(std::memory_order_relaxed) > capacity / 2) return;
  while (!overflow_.empty() && put(*overflow_.front())) {
    overflow_.pop_front();
    kept_count_.store(overflow_.size());
  }
}

}  // namespace fairlead::engine
