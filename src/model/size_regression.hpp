// How durations of one codelet grow with size: lines through known points on logarithmic scales. Between two
// sizes that were measured, the power law through both; beyond them, the one that the nearest few follow.
#pragma once
#include <cstdint>
#include <vector>

#include "model/fixed_point.hpp"

namespace fairlead::model {

class SizeRegression {
 public:
  void clear() noexcept { points_.clear(); }
  /// Tasks of this size take so long (ns).
  void add(std::uint64_t size, std::int64_t duration_ns) {
    points_.push_back({log2_of(size), log2_of(static_cast<std::uint64_t>(duration_ns)), 1});
  }
  /// After the last add(), before asking.
  void finish();

  /// Different sizes: with two, something is known about growth.
  std::size_t sizes() const noexcept { return points_.size(); }
  /// Nanoseconds. With one size, in proportion to that. There must be one.
  std::int64_t at(std::uint64_t size) const noexcept;

 private:
  struct Point {
    Log2 size, duration;
    std::int64_t weight;  // points of one size that were joined
  };
  Log2 beyond(Log2 size, std::size_t first, std::size_t last) const noexcept;
  std::vector<Point> points_;
};

}  // namespace fairlead::model
