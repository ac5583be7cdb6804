// When a worker is expected to be free: the task that runs there, and those that wait for it.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace fairlead::schedule {

/// What a task that joins a queue adds to the time until its worker is free.
enum class QueueRule : std::uint8_t {
  remainder,  // its duration, and of its transfers what goes on when all before it are over
  duration,   // its duration alone: transfers go on while others compute
  sum,        // its duration and its transfers
};

class FreeTime {
 public:
  /// If it gets nothing more.
  Time at(Time now) const noexcept { return std::max(now, busy_until_) + queued_; }
  /// By how much a task that takes so long, and so long to be brought, moves that.
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
  /// The task that runs ends then, as far as is known.
  void busy_until(Time end) noexcept { busy_until_ = end; }

 private:
  Time busy_until_{};
  Duration queued_{};  // what those added that have not started
};

}  // namespace fairlead::schedule
