// How the clocks of ranks stand to each other, found by messages: rank 0 asks each for the time and looks when it has asked and
// when the answer has come. Of several answers the one that took least is the best: the clock was read between the two.
#pragma once
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"

namespace fairlead::report {

/// Of one rank.
struct Clock {
  std::function<Time()> now{};  ///< the one that its records have
  /// What the machine's clock, which never goes back, showed when `now` was 0; and which machine that is.
  Time machine_at_zero{};
  Time at{};  ///< that was so: `now` goes faster or slower than the machine's
  std::uint64_t machine = 0;
};
/// The runtime's.
Clock clock_of(Runtime& runtime);

/// What rank 0 has found of another.
struct ClockReading {
  Time at{};          ///< by that rank's clock
  Duration ahead{};   ///< of rank 0's clock
  Duration within{};  ///< it is no further off; 0: both have the clock of one machine, and these are theirs
  Clock own{}, first{};
};
/// By rank, on rank 0; nothing on others. All ranks call it.
std::vector<ClockReading> read_clocks(Runtime& runtime, const Clock& own);

/// A rank's time as rank 0's, from what was found before and afterwards: clocks do not go equally fast.
Time as_of_first(Time at, const ClockReading& before, const ClockReading& after);

}  // namespace fairlead::report
