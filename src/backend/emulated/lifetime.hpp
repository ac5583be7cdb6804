// When an emulated device is lost that is to be, so that anybody can try how a run takes that: after so many copies and
// tasks. What ends from then on has failed.
#pragma once
#include <fairlead/error.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "backend/backend.hpp"

namespace fairlead::backend {

class Lifetime {
 public:
  Lifetime(Site& site, NodeId node, const std::string& device, std::uint64_t ends)
      : site_(site),
        node_(node),
        words_("it was to be lost after " + std::to_string(ends) + " copies and tasks (lost= in --devices)"),
        text_("the device \"" + device + "\" is lost: " + words_),
        left_(ends) {}

  bool over() const {
    const std::lock_guard guard(mutex_);
    return left_ == 0;
  }
  /// A copy or task would be over now. False: the device is lost, and it has failed.
  bool allows_one_more() {
    const std::lock_guard guard(mutex_);  // nobody tells that something failed before the loss was told
    if (left_ == 0) return false;
    if (--left_ == 0) site_.lose(node_, words_);
    return left_ != 0;
  }
  const std::string& text() const noexcept { return text_; }

 private:
  Site& site_;
  const NodeId node_;
  const std::string words_, text_;
  mutable std::mutex mutex_;  // guards left_
  std::uint64_t left_;
};

}  // namespace fairlead::backend
