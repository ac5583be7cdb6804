// What holds of memory at any time, looked up from the beginning and not by the counters.
#pragma once
#include "memory/transfers.hpp"

namespace fairlead::memory {

/// Throws Error naming the first thing that is not as it should be; with `idle`, also that nothing is pinned.
void check_invariants(const State& state, const Transfers& transfers, bool idle);

}  // namespace fairlead::memory
