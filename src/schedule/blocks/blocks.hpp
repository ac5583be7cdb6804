// BLOCKS plans over the graph: sets of written tiles that fit in memory and whose updates can run back to
// back, tasks that are not ready yet included, so that a tile is loaded once for many updates. What leaves is
// decided by the plan (Belady). Not published; it moves about half of what DARTS does, and less on several
// nodes.
#pragma once
#include "policy/policy.hpp"

namespace fairlead::schedule {

std::unique_ptr<Policy> make_blocks();

}  // namespace fairlead::schedule
