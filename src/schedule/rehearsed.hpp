// REHEARSED: what lies ahead is played beforehand, under several policies, on a simulated copy of the machine; the one
// under which it is over first is taken. So nobody has to know which policy suits which graph on which machine: that
// is measured, on what is known of both. Not published.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"
#include "policy/policy_options.hpp"

namespace fairlead::schedule {

namespace rehearsed {
inline constexpr std::array options{
    PolicyOption{"first", "blocks", "the policy until something has been played, and where nothing can be"},
    PolicyOption{"fewest", "100", "so many tasks at least: fewer are not played"},
    PolicyOption{"share", "0.05",
                 "of the time that the tasks are expected to take: how much playing them may take at most"}};
}  // namespace rehearsed

std::unique_ptr<Policy> make_rehearsed(const PolicyOptions& options);

}  // namespace fairlead::schedule
