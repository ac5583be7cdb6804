// The policies ap and ap-dplasma.
#pragma once
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// By bottom level.
std::unique_ptr<Policy> make_ap();
/// By the formula that DPLASMA's Cholesky factorization is written with; of other graphs by bottom level.
std::unique_ptr<Policy> make_ap_dplasma();

}  // namespace fairlead::schedule
