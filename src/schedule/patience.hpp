// Patience: slower workers leave tasks to faster ones, unless those have so much to do that a slower one is
// done sooner. Around policies that do not look at durations, whose papers' workers are all alike.
#pragma once
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// The same answers as `inner` where all workers are of one kind.
std::unique_ptr<Policy> with_patience(std::unique_ptr<Policy> inner);

}  // namespace fairlead::schedule
