// REHEARSED: what lies ahead is played under several policies, on a simulated copy of the machine; the one under which it
// is over first is taken. So nobody has to know which policy suits which graph on which machine: that is
// measured, on what is known of both. Not published.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"
#include "policy/policy_options.hpp"

namespace fairlead::schedule {

namespace rehearsed {
inline constexpr std::array options{
    PolicyOption{
        "first", "found",
        "the policy until something has been played, and where nothing can be; found: near where there "
        "are accelerators, blocks where only cores work, and where data exceed all memories darts or "
        "blocks, by whether bringing them takes longer than computing"},
    PolicyOption{"fewest", "20", "so many tasks at least: fewer are not played"},
    PolicyOption{
        "share", "0.02",
        "of the time that the tasks are expected to take: for how long workers may stand still until "
        "something has been played"},
    PolicyOption{
        "within", "0.25",
        "of the time that the tasks are expected to take: what cannot be played by then is not played"},
    PolicyOption{"off", "none",
                 "what is left out, to see what it is worth, as glancing+darts: waiting, glancing, "
                 "confirming, narrowing, saving, again, or a policy that is not to be played"}};
}  // namespace rehearsed

std::unique_ptr<Policy> make_rehearsed(const PolicyOptions& options);

}  // namespace fairlead::schedule
