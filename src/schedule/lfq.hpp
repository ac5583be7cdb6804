// LFQ: local flat queues, behind a small buffer of tasks that cannot be stolen.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

inline constexpr std::array lfq_options{
    PolicyOption{"placeholder", "1", "how many tasks a worker keeps that cannot be stolen (0 to 1000000)"}};
std::unique_ptr<Policy> make_lfq(const PolicyOptions&);

}  // namespace fairlead::schedule
