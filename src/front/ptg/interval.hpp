// Between which numbers an expression can lie, if its indices lie between some: for how large a class's space
// is, and for loops without a bound of their own.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "front/ptg/formula.hpp"

namespace fairlead::ptg {

/// Both ends included; empty if `last` is less. Numbers of tasks are in 32 bits.
struct Interval {
  static constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
  static constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  std::int64_t first = least, last = most;

  /// Of values of which nothing is known.
  static constexpr Interval unknown() {
    return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  }
  bool is_empty() const noexcept { return last < first; }
};

/// Every value that the expression can have lies in it. `at`: of the index at each place.
Interval interval_of(const Expression& expression, const Places& places, const std::vector<Interval>& at);

/// Of the indices of a class, whose places are in that order. Those of parameters are within 32 bits.
std::vector<Interval> intervals_of(const std::vector<Range>& indices, const Places& places);

}  // namespace fairlead::ptg
