// The policy of a run, and what it has asked to be told.
#pragma once
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
  void replace(std::unique_ptr<Policy> policy) {
    policy_ = std::move(policy);
    wants_progress_ = includes(policy_->interests(), Interest::progress);
    wants_submissions_ = includes(policy_->interests(), Interest::submitted);
  }

 private:
  std::unique_ptr<Policy> policy_;
  bool wants_progress_ = false, wants_submissions_ = false;
};

}  // namespace fairlead::engine
