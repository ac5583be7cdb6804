// Tests that run under every policy, each as a separate test.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "sanitized.hpp"
#include "schedule/policies.hpp"

namespace fairlead::tests {

/// Under ThreadSanitizer every fourth: it sees the engine's threads, and a policy is a sequential program under their lock.
inline std::vector<std::string> every_policy() {
  const auto names = schedule::policy_names();
  std::vector<std::string> chosen;
  for (std::size_t i = 0; i < names.size(); i += thread_sanitized ? 4 : 1) chosen.emplace_back(names[i]);
  return chosen;
}

/// For tests that differ only in the order: under AddressSanitizer, too, every fourth policy, from the `first` on.
/// RandomProgramsOnThreads runs all of them there.
inline std::vector<std::string> some_policies(std::size_t first) {
  const auto names = every_policy();
  if (!address_sanitized) return names;
  std::vector<std::string> chosen;
  for (std::size_t i = first; i < names.size(); i += 4) chosen.push_back(names[i]);
  return chosen;
}

/// In the form of test names.
inline std::string name_of_policy(std::string policy) {
  std::ranges::replace(policy, '-', '_');
  return policy;
}
inline std::string name_of_test(const testing::TestParamInfo<std::string>& instance) {
  return name_of_policy(instance.param);
}

/// The seeds from `first` to `last` with which a policy runs: one in four, or in so many where a sanitizer watches, drawn for each
/// policy, so that a policy has seeds of every remainder; at length, all. A policy is a sequential program under the engine's
/// lock; which threads meet, and where, depends on the seed.
inline std::vector<std::uint64_t> seeds_for(std::string_view policy, std::uint64_t first, std::uint64_t last,
                                            std::uint64_t one_in = 12) {
  const auto names = every_policy();
  const auto place = static_cast<std::uint64_t>(std::ranges::find(names, policy) - names.begin());
  const std::uint64_t step = at_length() ? 1 : sanitized ? one_in : 4;
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t block = first; block <= last; block += step)
    seeds.push_back(block + Random::mix(block * names.size() + place) % std::min(step, last - block + 1));
  return seeds;
}

}  // namespace fairlead::tests
