// The default policy: simulates the remaining tasks under several candidate policies on a model of the machine, and
// selects the one with the shortest predicted time. The user need not find the best policy for a graph and a machine.
// Not published.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"
#include "policy/policy_options.hpp"

namespace fairlead::schedule {

namespace what_if {
inline constexpr std::array options{
    PolicyOption{
        "first", "found",
        "the policy until the first simulation has finished, or if none is possible; found: near with "
        "accelerators, blocks with cores only; if the data exceed all memories, darts if transfers "
        "take longer than computing, otherwise blocks"},
    PolicyOption{"fewest", "20", "fewer unfinished tasks are not simulated"},
    PolicyOption{"share", "0.02",
                 "how long tasks may wait for the selection, as a share of their expected time"},
    PolicyOption{"within", "0.25",
                 "the longest total time of all simulations, as a share of the tasks' expected time"},
    PolicyOption{
        "off", "none",
        "steps or candidates to leave out, as quick-check+darts, to measure what each contributes: wait, "
        "quick-check, confirm, fewer-workers, fewest-bytes, repeat, or the name of a candidate"}};
}  // namespace what_if

std::unique_ptr<Policy> make_what_if(const PolicyOptions& options);

}  // namespace fairlead::schedule
