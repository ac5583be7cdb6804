// EAGER: tasks run in the order in which they become ready.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"
#include "policy/policy_options.hpp"

namespace fairlead::schedule {

inline constexpr std::array eager_options{
    PolicyOption{"order", "release",
                 "which ready task is the first: the one released first, or the first of the program"}};
std::unique_ptr<Policy> make_eager(const PolicyOptions& options);

}  // namespace fairlead::schedule
