// A wrapper that measures the time spent in a policy. Its decisions are unchanged.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "policy/policy.hpp"

namespace fairlead::simulate {

/// Time spent in a policy. Must outlive it.
class PolicyTime {
 public:
  /// `worker`: the worker for which the call was made; none if there is no such worker.
  void add(WorkerId worker, Duration took);
  /// Returns and resets the time not yet charged to that worker, plus the time of calls without a worker.
  Duration take_charge(WorkerId worker);
  Duration all() const noexcept { return all_; }

 private:
  Duration all_{}, unattributed_{};
  std::vector<Duration> by_worker_;
};

/// `clock`: for tests; by default the machine's clock.
std::unique_ptr<Policy> timed(std::unique_ptr<Policy> policy, PolicyTime& time,
                              std::function<Time()> clock = {});

}  // namespace fairlead::simulate
