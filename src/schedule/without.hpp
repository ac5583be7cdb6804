// A policy that does without some workers: slow ones, or badly connected ones, that cost it more than they bring. What only
// they can run they run nevertheless.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"
#include "policy/policy_options.hpp"

namespace fairlead::schedule {

namespace without {
inline constexpr std::array options{
    PolicyOption{"workers", "0", "which ones get nothing, counted from 0: 3+4+5"},
    PolicyOption{"policy", "dmdas", "who decides what the others do"},
};
}  // namespace without

std::unique_ptr<Policy> make_without(const PolicyOptions& options);

}  // namespace fairlead::schedule
