// How long a task takes where it is fastest.
#pragma once
#include <algorithm>
#include <span>

#include "policy/view.hpp"

namespace fairlead {

/// On those of the workers that can run it; 0 if none can.
inline Duration least_estimate(const View& view, const Task& task, std::span<const WorkerId> workers) {
  Duration least = Duration::max();
  for (const WorkerId worker : workers)
    if (view.can_run(task, worker)) least = std::min(least, view.estimate(task, worker));
  return least == Duration::max() ? Duration{} : least;
}

}  // namespace fairlead
