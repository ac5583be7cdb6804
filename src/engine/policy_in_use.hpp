// The policy of a run and the notifications that it requested.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "policy/policy.hpp"

namespace fairlead::engine {

class PolicyInUse {
 public:
  explicit PolicyInUse(std::unique_ptr<Policy> policy) { replace(std::move(policy)); }

  Policy* operator->() const noexcept { return policy_.get(); }
  Policy& operator*() const noexcept { return *policy_; }
  bool wants_progress() const noexcept { return wants_progress_; }
  bool wants_submissions() const noexcept { return wants_submissions_; }
  /// With this many ready tasks the policy can choose well; sources need not hand out more.
  std::size_t enough() const noexcept { return enough_; }
  void replace(std::unique_ptr<Policy> policy) {
    policy_ = std::move(policy);
    wants_progress_ = includes(policy_->interests(), Notifications::progress);
    wants_submissions_ = includes(policy_->interests(), Notifications::submitted);
    enough_ = std::clamp(policy_->horizon(), least_enough, most_enough);
  }

 private:
  static constexpr std::size_t least_enough = 256, most_enough = 65536;

  std::unique_ptr<Policy> policy_;
  bool wants_progress_ = false, wants_submissions_ = false;
  std::size_t enough_ = least_enough;
};

}  // namespace fairlead::engine
