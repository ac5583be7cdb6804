// URGENT: an idle worker takes the most urgent task. See priority_order.cpp.
#pragma once
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

std::unique_ptr<Policy> make_urgent();

}  // namespace fairlead::schedule
