// The waits between ranks: the time in which workers of a rank had no task while a value from another rank was in
// flight.
#pragma once
#include <cstdint>
#include <vector>

#include "trace/snapshot.hpp"

namespace fairlead::report {

struct WaitedForRanks {
  std::vector<Duration> by_rank;  ///< summed over the workers; a wait for several ranks counts for each
  Duration any{};                 ///< waits for any rank
};
/// `own`: the records of a rank; counts the waits between `begin` and `end`. `ranks`: the number of ranks.
WaitedForRanks waited_for_ranks(const trace::Snapshot& own, std::uint32_t ranks, Time begin, Time end);

}  // namespace fairlead::report
