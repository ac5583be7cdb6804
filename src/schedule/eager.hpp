// EAGER: first come, first served.
#pragma once
#include "policy/policy.hpp"

namespace fairlead::schedule {

std::unique_ptr<Policy> make_eager();

}  // namespace fairlead::schedule
