// Interval arithmetic: bounds of an expression, given bounds of its indices. Used for the size of a class's index
// space, and for loops that have no other bound.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "front/ptg/formula.hpp"

namespace fairlead::ptg {

/// Both ends included; empty if `last` is less than `first`. The default is the range of task indices, 32 bits.
struct Interval {
  static constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
  static constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  std::int64_t first = least, last = most;

  /// For values without known bounds.
  static constexpr Interval unknown() {
    return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  }
  bool is_empty() const noexcept { return last < first; }
};

/// An interval that contains all values of the expression. `at`: the interval of the index at each place.
Interval interval_of(const Expression& expression, const Places& places, const std::vector<Interval>& at);
Interval interval_of(const Affine& sum, const Places& places, const std::vector<Interval>& at);

/// The intervals of a class's indices, with places in the same order. Parameters are within 32 bits.
std::vector<Interval> intervals_of(const std::vector<Range>& indices, const Places& places);

}  // namespace fairlead::ptg
