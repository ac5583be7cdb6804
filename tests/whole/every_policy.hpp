// Tests that run under every policy, each as a test of its own.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "schedule/policies.hpp"

namespace fairlead::tests {

inline std::vector<std::string> every_policy() {
  const auto names = schedule::policy_names();
  return {names.begin(), names.end()};
}

/// As the names of tests have it.
inline std::string name_of_policy(std::string policy) {
  std::ranges::replace(policy, '-', '_');
  return policy;
}
inline std::string name_of_test(const testing::TestParamInfo<std::string>& instance) {
  return name_of_policy(instance.param);
}

/// The seeds from `first` to `last` with which a policy runs: all, but only every seventh where a sanitizer watches,
/// others for each policy, so that each seed and each policy is seen. A policy is a sequential program under the
/// engine's lock; which threads meet, and where, depends on the seed.
inline std::vector<std::uint64_t> seeds_for(const std::string& policy, std::uint64_t first, std::uint64_t last) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  const auto names = every_policy();
  const std::uint64_t step = 7, skipped = static_cast<std::uint64_t>(std::ranges::find(names, policy) - names.begin()) % step;
#else
  const std::uint64_t step = 1, skipped = 0;
  static_cast<void>(policy);
#endif
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = first + skipped; seed <= last; seed += step) seeds.push_back(seed);
  return seeds;
}

}  // namespace fairlead::tests
