// Expands an experiment over others: runs its lines at their points.
#include <fmt/format.h>

#include "experiment/experiment.hpp"

namespace fairlead::experiment {

std::vector<Experiment> laid_out(std::span<const Experiment> found) {
  std::vector<Experiment> all;
  for (const Experiment& one : found) {
    if (one.over.empty()) {
      all.push_back(one);
      continue;
    }
    for (Experiment& point : find_experiments(one.over)) {
      if (point.judged.empty()) continue;
      point.name = fmt::format("{}/{}", one.name, point.name.substr(point.name.find('/') + 1));
      point.over = one.name;
      point.judged.clear();
      point.claims.clear();
      point.lines = one.lines;
      all.push_back(std::move(point));
    }
  }
  return all;
}

}  // namespace fairlead::experiment
