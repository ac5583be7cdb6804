// DMDA and DMDAS: a ready task goes to the queue of the worker with the earliest expected completion time. With other
// rules these are the policies of heft.hpp.
#pragma once
#include <memory>

#include "policy/policy.hpp"
#include "schedule/dmda_rules.hpp"

namespace fairlead::schedule {

std::unique_ptr<Policy> make_dmda(const DmdaRules& rules);
std::unique_ptr<Policy> make_dmda(const PolicyOptions& options);
std::unique_ptr<Policy> make_dmdas(const PolicyOptions& options);
/// NEAR, not published: a queue's length is the durations of its tasks alone, because transfers overlap with the
/// computation of earlier tasks.
std::unique_ptr<Policy> make_near();
/// NEARER, not published: like NEAR, with each transfer counted twice, because it delays the transfers of other tasks.
std::unique_ptr<Policy> make_nearer();

}  // namespace fairlead::schedule
