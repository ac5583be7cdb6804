// Collects the trace records of all ranks on rank 0, in its time.
#pragma once
#include <fairlead/runtime.hpp>

#include <vector>

#include "report/clock_sync.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::report {

class TracesOfRanks {
 public:
  /// Measures the clocks before the run. All ranks must construct one and call collect(), in the same order. Does
  /// nothing with a single rank.
  explicit TracesOfRanks(Runtime& runtime);

  /// Call when nothing runs any more. Returns all snapshots by rank on rank 0, and only the rank's own elsewhere.
  /// Throws the errors of messages.
  std::vector<trace::Snapshot> collect(trace::Snapshot own);

 private:
  Runtime& runtime_;
  Clock clock_;
  std::vector<ClockReading> before_;
};

/// Converts each time to rank 0's time.
void convert_to_rank0_time(trace::Snapshot& snapshot, const ClockReading& before, const ClockReading& after);

}  // namespace fairlead::report
