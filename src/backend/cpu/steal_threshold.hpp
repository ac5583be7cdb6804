// The minimum number of queued tasks that an idle worker steals from. A steal costs the owner a cache miss, about the
// time of one tiny task; so stealing tiny tasks pays only if there are several. A longer task is always worth a
// steal.
#pragma once
#include <cstddef>

#include "base/time.hpp"

namespace fairlead::backend {

/// State of one worker, based on the tasks that it ran last.
class StealThreshold {
 public:
  /// The worker ran this many tasks of the fast path in this total time.
  void ran(unsigned tasks, Duration took) noexcept { some_ = took < worth_a_theft * tasks; }
  /// The worker has been idle for a while.
  void reset() noexcept { some_ = false; }
  bool is_active() const noexcept { return some_; }
  /// Does not steal from a queue with fewer tasks.
  std::size_t minimum() const noexcept { return some_ ? enough : 1; }

  static constexpr std::size_t enough = 16;      // tasks worth a steal if they are tiny
  static constexpr Duration worth_a_theft{300};  // nanoseconds; a task of this duration is not tiny

 private:
  bool some_ = false;
};

}  // namespace fairlead::backend
