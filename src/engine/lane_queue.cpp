// See lane_queue.hpp. Here is what is rare: more tasks than there is room for.
#include "engine/lane_queue.hpp"

#include <new>

namespace fairlead::engine {

bool LaneQueue::keep(LazyTask& task) noexcept {
  try {
    kept_.push_back(&task);
  } catch (const std::bad_alloc&) {
    return false;
  }
  kept_count_.store(kept_.size());
  return true;
}

LazyTask* LaneQueue::oldest_kept() noexcept {
  LazyTask* const task = kept_.front();
  kept_.pop_front();
  kept_count_.store(kept_.size());
  return task;
}

void LaneQueue::move_up() noexcept {
  if (end_.load(std::memory_order_relaxed) - first_.load(std::memory_order_relaxed) > capacity / 2) return;
  while (!kept_.empty() && put(*kept_.front())) {
    kept_.pop_front();
    kept_count_.store(kept_.size());
  }
}

}  // namespace fairlead::engine
