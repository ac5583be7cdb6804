// Simulates the loss of an emulated device after a given number of copies and tasks, to test how a run handles it.
// Later copies and tasks fail.
#pragma once
#include <fairlead/error.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "backend/backend.hpp"

namespace fairlead::backend {

class InjectedLoss {
 public:
  InjectedLoss(BackendHost& site, NodeId node, const std::string& device, std::uint64_t ends)
      : site_(site),
        node_(node),
        words_("it was set to be lost after " + std::to_string(ends) +
               " copies and tasks (lost= in --devices)"),
        text_("the device \"" + device + "\" is lost: " + words_),
        left_(ends) {}

  bool is_lost() const {
    const std::lock_guard guard(mutex_);
    return left_ == 0;
  }
  /// Called at the end of a copy or task. False: the device is lost and the copy or task has failed.
  bool count_operation() {
    const std::lock_guard guard(mutex_);  // held during lose(), so that no failure is reported before the
                                          // loss
    if (left_ == 0) return false;
    if (--left_ == 0) site_.report_device_loss(node_, words_);
    return left_ != 0;
  }
  const std::string& text() const noexcept { return text_; }

 private:
  BackendHost& site_;
  const NodeId node_;
  const std::string words_, text_;
  mutable std::mutex mutex_;  // guards left_
  std::uint64_t left_;
};

}  // namespace fairlead::backend
