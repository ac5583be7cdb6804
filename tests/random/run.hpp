// One random program on one random simulated machine, everything drawn from a seed, with a check of every
// value that a task reads.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "random/plan.hpp"

namespace fairlead::random_runs {

struct RunResult {
  std::uint64_t holds_granted = 0, holds_refused = 0, waits_refused = 0;
  std::uint64_t tasks_run = 0, tasks_cancelled = 0, copies = 0, prefetches = 0, evictions = 0;
  std::uint64_t spans = 0;            ///< tasks that ran on several workers at once
  std::uint64_t further_bodies = 0;   ///< tasks that ran another than their first body
  std::uint64_t folds = 0;            ///< of partial results of reductions
  std::uint64_t chained = 0;          ///< copies that crossed two wires
  std::uint64_t generated = 0;        ///< copies that were generated, not read
  std::uint64_t kept_by = 0;          ///< of these, kept by the cache on the route
  std::uint64_t refuges = 0;          ///< evictions from a device that stayed in the cache on their way home
  std::uint64_t devices_lost = 0;     ///< before the end
  std::uint64_t tasks_failed = 0;     ///< after their start
  std::uint64_t losses_reported = 0;  ///< waits and flushes that reported lost data
  std::uint64_t pauses = 0;           ///< while tasks were unfinished
  Bytes bytes_moved = 0, prefetched_bytes = 0, unused_prefetch_bytes = 0;
  std::size_t longest_passed = 0;
  std::uint64_t digest = 0;  ///< of all commands
  std::int64_t end_time = 0;
};

/// The failure, or none. Fills `result` without a failure.
std::optional<std::string> run(const RunPlan& plan, RunResult& result);
inline std::optional<std::string> random_run(std::uint64_t seed, const RunOptions& options,
                                             RunResult& result) {
  return run(RunPlan(seed, options), result);
}

}  // namespace fairlead::random_runs
