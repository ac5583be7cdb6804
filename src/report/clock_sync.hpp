// Clock synchronization of ranks by messages: rank 0 requests the time of each rank, and takes its own time before the
// request and after the answer. The best of several answers is the fastest one, since the other clock was read in
// between.
#pragma once
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"

namespace fairlead::report {

/// The clock of one rank.
struct Clock {
  std::function<Time()> now{};  ///< the clock of its trace records
  /// The value of the machine's monotonic clock when `now` was 0, and the number of the machine.
  Time machine_at_zero{};
  Time at{};  ///< the time of that measurement: `now` may run faster or slower than the machine's clock
  std::uint64_t machine = 0;
};
/// The clock of the runtime.
Clock clock_of(Runtime& runtime);

/// Rank 0's measurement of another rank's clock.
struct ClockReading {
  Time at{};          ///< by that rank's clock
  Duration offset{};  ///< relative to rank 0's clock
  /// Maximum error; 0: both use the clock of one machine, and `own` and `first` are valid.
  Duration max_error{};
  Clock own{}, first{};
};
/// By rank, on rank 0; empty on other ranks. All ranks must call it.
std::vector<ClockReading> read_clocks(Runtime& runtime, const Clock& own);

/// Converts a rank's time to rank 0's time, from measurements before and after the run: clocks run at different rates.
Time to_rank0_time(Time at, const ClockReading& before, const ClockReading& after);

}  // namespace fairlead::report
