// The policies ap and ap-dplasma.
#pragma once
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// Orders tasks by bottom level.
std::unique_ptr<Policy> make_ap();
/// Orders tasks by the formula of DPLASMA's Cholesky factorization; tasks of other graphs by bottom level.
std::unique_ptr<Policy> make_ap_dplasma();

}  // namespace fairlead::schedule
