// The order in which a worker tries other workers as victims.
#pragma once
#include <algorithm>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule {

/// By worker: all other workers, nearest first, then by id.
inline std::vector<std::vector<WorkerId>> others_by_distance(const View& view) {
  std::vector<std::vector<WorkerId>> all(view.workers().size());
  for (const WorkerInfo& worker : view.workers()) {
    std::vector<WorkerId>& others = all[index(worker.id)];
    for (const WorkerInfo& other : view.workers())
      if (other.id != worker.id) others.push_back(other.id);
    std::ranges::stable_sort(others, {}, [&](WorkerId other) { return view.distance(worker.id, other); });
  }
  return all;
}

}  // namespace fairlead::schedule
