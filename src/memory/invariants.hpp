// The invariants of memory, computed from the data themselves and compared with the counters.
#pragma once
#include "memory/transfers.hpp"

namespace fairlead::memory {

/// Throws Error with the first violation. With `idle`, also checks that nothing is pinned.
void check_invariants(const State& state, const Transfers& transfers, bool idle);

}  // namespace fairlead::memory
