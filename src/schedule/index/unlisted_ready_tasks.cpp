// Scans the lists, and drops entries that are no longer valid.
#include "schedule/index/unlisted_ready_tasks.hpp"

#include <algorithm>
#include <functional>

namespace fairlead::schedule {

void UnlistedReadyTasks::list(DartsTask& held, std::size_t ready) {
  OnNode& on = held.on(slot_);
  if (on.missing == 0 && !on.listed_free) {
    on.listed_free = true;
    free_.push_back({&held, held.generation});
  } else if (on.missing > 2 && on.usable() && !on.listed_far) {
    on.listed_far = true;
    new_far_.push_back({{&held, held.generation}, held.priority, held.order});
    if (new_far_.size() + far_.size() > 2 * ready + 64) purge();
  }
}

void UnlistedReadyTasks::take_free(std::vector<DartsTask*>& out) {
  out.clear();
  for (const DartsTaskRef& ref : free_) {
    if (ref.stale()) continue;
    ref.held->on(slot_).listed_free = false;
    if (ref.held->where == DartsTask::Where::ready && ref.held->on(slot_).missing == 0)
      out.push_back(ref.held);
  }
  free_.clear();
  std::ranges::sort(out, released_before);
}

DartsTask* UnlistedReadyTasks::most_urgent_incomplete() {
  if (far_tasks_ == 0) return nullptr;
  if (far_.size() + new_far_.size() > 2 * static_cast<std::size_t>(far_tasks_) + 64) purge();
  for (const Far& far : new_far_) {
    far_.push_back(far);
    std::ranges::push_heap(far_, std::less<>{});
  }
  new_far_.clear();
  while (!far_.empty()) {
    const Far far = far_.front();
    if (is_far(far)) return far.held;
    if (!far.stale()) far.held->on(slot_).listed_far = false;
    std::ranges::pop_heap(far_, std::less<>{});
    far_.pop_back();
  }
  return nullptr;
}

/// Reduces the references to at most twice the number of tasks.
void UnlistedReadyTasks::purge() {
  far_.insert(far_.end(), new_far_.begin(), new_far_.end());
  new_far_.clear();
  std::erase_if(far_, [&](const Far& far) {
    if (is_far(far)) return false;
    if (!far.stale()) far.held->on(slot_).listed_far = false;
    return true;
  });
  std::ranges::make_heap(far_, std::less<>{});
}

}  // namespace fairlead::schedule
