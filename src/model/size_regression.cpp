// See size_regression.hpp. A power law a n^b is a line on logarithmic scales. An additional constant c bends the
// line, so only nearby points count.
#include "model/size_regression.hpp"

#include <algorithm>

namespace fairlead::model {

namespace {
constexpr std::size_t neighbours = 4;
// durations grow at most with the fourth power of the size, and never shrink
constexpr std::int64_t steepest = 4;
}  // namespace

void SizeRegression::finish() {
  std::ranges::sort(points_, [](const Point& a, const Point& b) {
    return a.size != b.size ? a.size < b.size : a.duration < b.duration;
  });
  std::size_t kept = 0;
  for (const Point& point : points_) {
    if (kept > 0 && points_[kept - 1].size == point.size) {
      Point& same = points_[kept - 1];
      same.duration = (same.duration * same.weight + point.duration) / (same.weight + 1);
      ++same.weight;
    } else {
      points_[kept++] = point;
    }
  }
  points_.resize(kept);
}

std::int64_t SizeRegression::at(std::uint64_t size) const noexcept {
  const Log2 x = log2_of(size);
  if (points_.size() == 1) return power_of_two(points_[0].duration + x - points_[0].size);
  if (x <= points_.front().size) return power_of_two(beyond(x, 0, std::min(neighbours, points_.size())));
  if (x >= points_.back().size)
    return power_of_two(beyond(x, points_.size() - std::min(neighbours, points_.size()), points_.size()));
  const auto right = std::ranges::upper_bound(points_, x, {}, &Point::size);
  const auto left = right - 1;
  return power_of_two(left->duration +
                      (right->duration - left->duration) * (x - left->size) / (right->size - left->size));
}

/// Least-squares line through the points first to last - 1.
Log2 SizeRegression::beyond(Log2 size, std::size_t first, std::size_t last) const noexcept {
  const auto count = static_cast<std::int64_t>(last - first);
  Log2 x = 0, y = 0;
  for (std::size_t i = first; i < last; ++i) {
    x += points_[i].size;
    y += points_[i].duration;
  }
  x /= count;
  y /= count;
  std::int64_t xx = 0, xy = 0;
  for (std::size_t i = first; i < last; ++i) {
    const Log2 dx = points_[i].size - x;
    xx += dx * dx;
    xy += dx * (points_[i].duration - y);
  }
  // In units of 1/65,536; both sums are below 2^46.
  const std::int64_t slope =
      std::clamp<std::int64_t>(xy * log2_one / std::max<std::int64_t>(xx, 1), 0, steepest * log2_one);
  return y + (size - x) * slope / log2_one;
}

}  // namespace fairlead::model
