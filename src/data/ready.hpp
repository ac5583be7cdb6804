// A task becomes ready when the last of its predecessors completes.
#pragma once
#include <atomic>

#include "base/event_chain.hpp"
#include "data/task.hpp"

namespace fairlead {

/// Decrements an atomic count of unfinished predecessors. True if this was the last.
template <class Count>
bool was_last(Count& count) noexcept {
  // Value 1: only this predecessor is missing, so no other thread can change the count. acq_rel: the writes of the
  // other predecessors are visible.
  return count.load(std::memory_order_acquire) == 1 || count.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// Appends the task, which became ready when `last` completed.
inline void append_ready(Task& task, const Task& last, EventChain& ready) noexcept {
  task.kind = EventKind::task_ready;
  task.worker = last.worker;
  task.at = last.at;
  ready.append(task);
}

}  // namespace fairlead
