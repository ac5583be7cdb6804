// A ready task goes to the queue of the worker where it is expected to be over first: dmda and dmdas, and
// with other rules the policies of heft.hpp.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"
#include "policy/policy_options.hpp"
#include "schedule/index/assigned_queue.hpp"
#include "schedule/static_placement.hpp"

namespace fairlead::schedule {

/// What the policies of this family differ in. As it stands: dmda.
struct DmdaRules {
  /// Which task of its queue a worker takes: the first, or one by Algorithm 2.
  AssignedQueue::Nearest nearest = AssignedQueue::Nearest::never_asked;
  StaticPlacement::Bound bound = StaticPlacement::Bound::nothing;  ///< to workers that it names
  double transfers = 1;  ///< by how much their time is multiplied before it is added; 0: it does not count
  bool prefetch = true;  ///< what tasks in the queue read may come before they are picked
};

std::unique_ptr<Policy> make_dmda(const DmdaRules& rules);

std::unique_ptr<Policy> make_dmda();
inline constexpr std::array dmdas_options{PolicyOption{
    "ready", "all",
    "among which tasks of its queue a worker takes the one that misses the fewest bytes: all, or "
    "those of the first priority"}};
std::unique_ptr<Policy> make_dmdas(const PolicyOptions& options);

}  // namespace fairlead::schedule
