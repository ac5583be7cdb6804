// Duration of a codelet as a function of size, by lines through measured points on logarithmic scales. Between two
// measured sizes it is the power law through both; outside, the power law of the nearest few points.
#pragma once
#include <cstdint>
#include <vector>

#include "model/fixed_point.hpp"

namespace fairlead::model {

class SizeRegression {
 public:
  void clear() noexcept { points_.clear(); }
  /// Tasks of this size take that many ns.
  void add(std::uint64_t size, std::int64_t duration_ns) {
    points_.push_back({log2_of(size), log2_of(static_cast<std::uint64_t>(duration_ns)), 1});
  }
  /// Call it after the last add() and before sizes() or at().
  void finish();

  /// The number of different sizes: at least two are needed for a trend.
  std::size_t sizes() const noexcept { return points_.size(); }
  /// Nanoseconds. With one size, proportional to it. At least one is required.
  std::int64_t at(std::uint64_t size) const noexcept;

 private:
  struct Point {
    Log2 size, duration;
    std::int64_t weight;  // number of merged points of this size
  };
  Log2 beyond(Log2 size, std::size_t first, std::size_t last) const noexcept;
  std::vector<Point> points_;
};

}  // namespace fairlead::model
