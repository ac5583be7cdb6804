// Lanes for overlapping intervals: each interval gets the lowest lane that is free at its start.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/time.hpp"

namespace fairlead::report {

class Lanes {
 public:
  /// The lane of an interval; calls must be in order of `begin`.
  std::size_t place(Time begin, Time end) {
    const auto free = std::ranges::find_if(free_at_, [begin](Time at) { return at <= begin; });
    if (free == free_at_.end()) {
      free_at_.push_back(end);
      return free_at_.size() - 1;
    }
    *free = end;
    return static_cast<std::size_t>(free - free_at_.begin());
  }

 private:
  std::vector<Time> free_at_;
};

}  // namespace fairlead::report
