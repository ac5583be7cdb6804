// A wrapper for policies that ignore durations, because the workers in their papers are all alike. Slower workers leave
// tasks to faster ones, unless these have so large a backlog that a slower worker finishes a task sooner.
#pragma once
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// Decides as `inner` does where all workers are of one kind. Takes ownership.
std::unique_ptr<Policy> reserve_for_fastest(std::unique_ptr<Policy> inner);

}  // namespace fairlead::schedule
