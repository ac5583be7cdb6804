// What all ranks have recorded, on rank 0 and by its clock.
#pragma once
#include <fairlead/runtime.hpp>

#include <vector>

#include "report/clock_of_ranks.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::report {

class TracesOfRanks {
 public:
  /// Looks how the clocks stand before the run. All ranks make one, and call what follows, in the same order. Of a runtime that
  /// computes alone it does nothing.
  explicit TracesOfRanks(Runtime& runtime);

  /// When nothing runs any more: on rank 0 all snapshots, by rank; elsewhere this rank's alone. Throws as messages do.
  std::vector<trace::Snapshot> collect(trace::Snapshot own);

 private:
  Runtime& runtime_;
  Clock clock_;
  std::vector<ClockReading> before_;
};

/// Makes each time one of rank 0's.
void set_to_first(trace::Snapshot& snapshot, const ClockReading& before, const ClockReading& after);

}  // namespace fairlead::report
