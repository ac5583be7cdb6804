// URGENT and PROGRAM-ORDER: an idle worker takes the most urgent task. See priority_order.cpp.
#pragma once
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

std::unique_ptr<Policy> make_urgent();
std::unique_ptr<Policy> make_program_order();

}  // namespace fairlead::schedule
