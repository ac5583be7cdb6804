// Thresholds, and ratios of estimated durations.
#include "schedule/heteroprio/speedup.hpp"

#include <algorithm>
#include <limits>

namespace fairlead::schedule::heteroprio {

bool is_above_threshold(const Speedup& speedup, WorkerKind kind, std::size_t waiting, std::uint32_t kinds,
                        const ByKind<std::size_t>& workers) noexcept {
  if (!speedup.fastest.has_value() || *speedup.fastest == kind) return true;
  const std::size_t fast = workers[index(*speedup.fastest)];
  return fast == 0 || ((kinds >> index(*speedup.fastest)) & 1u) == 0 ||
         static_cast<double>(waiting) >= static_cast<double>(fast) * speedup.over[index(kind)];
}

double relative_speedup(const Speedup& speedup, WorkerKind kind, std::uint32_t kinds) noexcept {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t other = 0; other < worker_kind_count; ++other)
    if (other != index(kind) && ((kinds >> other) & 1u) != 0) least = std::min(least, speedup.over[other]);
  if (!speedup.fastest.has_value() || *speedup.fastest == kind ||
      least == std::numeric_limits<double>::infinity())
    return least;
  return 1 / speedup.over[index(kind)];
}

bool SpeedupEstimate::add(const ByKind<Duration>& durations, std::uint32_t kinds) {
  if (++count_ == window) {
    for (double& sum : sums_) sum /= 2;
    count_ /= 2;
  }
  std::size_t fastest = worker_kind_count;
  for (std::size_t k = 0; k < worker_kind_count; ++k) {
    if (((kinds >> k) & 1u) == 0) continue;
    sums_[k] += std::max(1.0, static_cast<double>(durations[k].count()));
    if (fastest == worker_kind_count || sums_[k] < sums_[fastest]) fastest = k;
  }
  if (fastest == worker_kind_count) return false;
  // Compare ratios to the formerly fastest kind, which may no longer be the fastest.
  bool changed = !current_.fastest.has_value();
  if (!changed) {
    const std::size_t before = index(*current_.fastest);
    for (std::size_t k = 0; k < worker_kind_count; ++k) {
      if (((kinds >> k) & 1u) == 0) continue;
      const double ratio = sums_[k] / sums_[before];
      changed |= ratio > min_change * current_.over[k] || ratio * min_change < current_.over[k];
    }
  }
  if (!changed) return false;
  current_.fastest = static_cast<WorkerKind>(fastest);
  for (std::size_t k = 0; k < worker_kind_count; ++k)
    current_.over[k] = ((kinds >> k) & 1u) != 0 ? sums_[k] / sums_[fastest] : 1;
  return true;
}

}  // namespace fairlead::schedule::heteroprio
