// How a task becomes ready: by the end of the last of those that it waits for.
#pragma once
#include <atomic>

#include "base/event_chain.hpp"
#include "data/task.hpp"

namespace fairlead {

/// Counts down an atomic count of what is not over. True if this was the last.
template <class Count>
bool was_last(Count& count) noexcept {
  // 1: only this one is missing, so no other thread can touch the count. acq_rel: sees what the others did.
  return count.load(std::memory_order_acquire) == 1 || count.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// Appends the task, which is ready since `last` has ended.
inline void append_ready(Task& task, const Task& last, EventChain& ready) noexcept {
  task.kind = EventKind::task_ready;
  task.worker = last.worker;
  task.at = last.at;
  ready.append(task);
}

}  // namespace fairlead
