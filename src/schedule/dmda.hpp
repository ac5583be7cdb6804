// The policies dmda and dmdas.
#pragma once
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

std::unique_ptr<Policy> make_dmda();
std::unique_ptr<Policy> make_dmdas();

}  // namespace fairlead::schedule
