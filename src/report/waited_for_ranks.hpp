// Who waited for whom: the time in which workers of a rank had nothing to run while a value from another rank was on its way.
#pragma once
#include <cstdint>
#include <vector>

#include "trace/snapshot.hpp"

namespace fairlead::report {

struct WaitedForRanks {
  std::vector<Duration> by_rank;  ///< of all workers together; where several were waited for, each counts
  Duration any{};                 ///< so long for any
};
/// From what a rank has recorded between two moments, of so many ranks.
WaitedForRanks waited_for_ranks(const trace::Snapshot& own, std::uint32_t ranks, Time begin, Time end);

}  // namespace fairlead::report
