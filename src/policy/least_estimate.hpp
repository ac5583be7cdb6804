// The duration of a task on its fastest worker.
#pragma once
#include <algorithm>
#include <span>

#include "policy/view.hpp"

namespace fairlead {

/// The minimum over those of `workers` that can run the task; 0 if none can.
inline Duration least_estimate(const View& view, const Task& task, std::span<const WorkerId> workers) {
  Duration least = Duration::max();
  for (const WorkerId worker : workers)
    if (view.can_run(task, worker)) least = std::min(least, view.estimate(task, worker));
  return least == Duration::max() ? Duration{} : least;
}

}  // namespace fairlead
