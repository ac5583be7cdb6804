// A ready task goes to the queue of the worker where it is expected to be over first: dmda and dmdas, and
// with other rules the policies of heft.hpp.
#pragma once
#include <memory>

#include "policy/policy.hpp"
#include "schedule/dmda_rules.hpp"

namespace fairlead::schedule {

std::unique_ptr<Policy> make_dmda(const DmdaRules& rules);
std::unique_ptr<Policy> make_dmda(const PolicyOptions& options);
std::unique_ptr<Policy> make_dmdas(const PolicyOptions& options);
/// Not published. What is queued has its data brought while others compute: a queue is as long as its durations.
std::unique_ptr<Policy> make_near();
/// And what a task has brought, others wait for: its transfers count twice.
std::unique_ptr<Policy> make_nearer();

}  // namespace fairlead::schedule
