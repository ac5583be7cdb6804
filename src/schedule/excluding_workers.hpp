// WITHOUT: a policy that excludes some workers, for instance slow or badly connected ones that cost more than they
// contribute. They still run tasks that no other worker can run.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"
#include "policy/policy_options.hpp"

namespace fairlead::schedule {

namespace excluding_workers {
inline constexpr std::array options{
    PolicyOption{"workers", "0", "the excluded workers, counted from 0: 3+4+5"},
    PolicyOption{"policy", "dmdas", "the policy of the other workers"},
};
}  // namespace excluding_workers

std::unique_ptr<Policy> make_without(const PolicyOptions& options);

}  // namespace fairlead::schedule
