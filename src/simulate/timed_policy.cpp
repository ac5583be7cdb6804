// Forwards every call to the policy and adds up its time.
#include "simulate/timed_policy.hpp"

#include <utility>

#include "base/fast_clock.hpp"
#include "policy/forwarding_policy.hpp"

namespace fairlead::simulate {

namespace {

class TimedPolicy final : public ForwardingPolicy<TimedPolicy> {
 public:
  TimedPolicy(std::unique_ptr<Policy> inner, PolicyTime& time, std::function<Time()> clock)
      : ForwardingPolicy(std::move(inner)), time_(time), clock_(std::move(clock)) {}

  template <class F>
  auto around(WorkerId worker, F&& f) {
    struct Adding {
      TimedPolicy& policy;
      WorkerId worker;
      Time begun = policy.now();
      ~Adding() { policy.time_.add(worker, policy.now() - begun); }
    };
    const Adding adding{*this, worker};
    return f();
  }

 private:
  Time now() const { return clock_ ? clock_() : fast_clock_.now(); }

  PolicyTime& time_;
  std::function<Time()> clock_;
  FastClock fast_clock_;
};

}  // namespace

void PolicyTime::add(WorkerId worker, Duration took) {
  all_ += took;
  if (worker == no_id<WorkerId>) {
    unattributed_ += took;
    return;
  }
  if (index(worker) >= by_worker_.size()) by_worker_.resize(index(worker) + 1u);
  by_worker_[index(worker)] += took;
}

Duration PolicyTime::take_charge(WorkerId worker) {
  Duration taken = std::exchange(unattributed_, {});
  if (index(worker) < by_worker_.size()) taken += std::exchange(by_worker_[index(worker)], {});
  return taken;
}

std::unique_ptr<Policy> timed(std::unique_ptr<Policy> policy, PolicyTime& time, std::function<Time()> clock) {
  return std::make_unique<TimedPolicy>(std::move(policy), time, std::move(clock));
}

}  // namespace fairlead::simulate
