// BLOCKS, an unpublished policy: plans over the task graph, including tasks that are not ready yet. It
// selects sets of written tiles that fit in memory and whose updates can run back to back, so that a tile is
// loaded once for many updates. Eviction follows the plan (Belady). Transfers about half as many bytes as
// DARTS, and fewer on several nodes.
#pragma once
#include "policy/policy.hpp"

namespace fairlead::schedule {

std::unique_ptr<Policy> make_blocks();

}  // namespace fairlead::schedule
