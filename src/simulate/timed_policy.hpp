// A policy whose time is taken: what deciding costs. The same answers as without.
#pragma once
#include <memory>

#include "base/fast_clock.hpp"
#include "policy/policy.hpp"

namespace fairlead::simulate {

/// Real time spent in a policy. Outlives it.
struct PolicyTime {
  Duration all{};
  Duration uncharged{};  ///< since somebody last took it
};

std::unique_ptr<Policy> timed(std::unique_ptr<Policy> policy, PolicyTime& time);

}  // namespace fairlead::simulate
