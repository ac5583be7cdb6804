// The time at which a worker is expected to be free: after its running task and its queued tasks.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace fairlead::schedule {

/// The time that a queued task adds until its worker is free.
enum class QueueRule : std::uint8_t {
  remainder,  // its duration, and the part of its transfers that extends beyond the tasks before it
  duration,   // its duration alone: transfers overlap with computation
  sum,        // its duration and its transfers
};

class FreeTime {
 public:
  /// The time at which the worker is free, without further tasks.
  Time at(Time now) const noexcept { return std::max(now, busy_until_) + queued_; }
  /// The time that a task with this duration and these transfers adds.
  Duration added(QueueRule rule, Duration duration, Duration transfers, Time now) const noexcept {
    switch (rule) {
      case QueueRule::remainder:
        return duration + std::max(Duration{}, now + transfers - at(now));
      case QueueRule::duration:
        return duration;
      case QueueRule::sum:
        return duration + transfers;
    }
    return duration;
  }
  void queue(Duration added) noexcept { queued_ += added; }
  void unqueue(Duration added) noexcept { queued_ -= added; }
  /// Sets the expected end of the running task.
  void busy_until(Time end) noexcept { busy_until_ = end; }

 private:
  Time busy_until_{};
  Duration queued_{};  // times added by tasks that have not started
};

}  // namespace fairlead::schedule
