// A policy whose time is taken: what deciding costs. The same answers as without.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "policy/policy.hpp"

namespace fairlead::simulate {

/// Time spent in a policy. Outlives it.
class PolicyTime {
 public:
  /// `worker`: who asked, or told; none: nobody in particular.
  void add(WorkerId worker, Duration took);
  /// What that worker has not waited for yet, and what nobody in particular caused; from then on it has.
  Duration take(WorkerId worker);
  Duration all() const noexcept { return all_; }

 private:
  Duration all_{}, nobodys_{};
  std::vector<Duration> by_worker_;
};

/// `clock`: tests have their own; unless given, that of this machine.
std::unique_ptr<Policy> timed(std::unique_ptr<Policy> policy, PolicyTime& time,
                              std::function<Time()> clock = {});

}  // namespace fairlead::simulate
