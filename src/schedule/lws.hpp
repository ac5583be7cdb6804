// LWS: one queue per worker, sorted by priority, with stealing from neighbours.
#pragma once
#include "policy/policy.hpp"

namespace fairlead::schedule {

std::unique_ptr<Policy> make_lws();

}  // namespace fairlead::schedule
