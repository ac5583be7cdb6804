// Who is free takes the most urgent task. See urgent.cpp.
#pragma once
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

std::unique_ptr<Policy> make_urgent();

}  // namespace fairlead::schedule
