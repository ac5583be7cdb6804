// See interval.hpp.
#include "front/ptg/interval.hpp"

#include <algorithm>
#include <initializer_list>

namespace fairlead::ptg {

namespace {
/// Numbers of 32 bits, or their sums and products: none leaves 64 bits.
Interval clamped(std::int64_t first, std::int64_t last) {
  const auto clamp = [](std::int64_t value) { return std::clamp(value, Interval::least, Interval::most); };
  return {clamp(first), clamp(last)};
}

/// Of the values at all four corners.
template <class F>
Interval of_corners(const Interval& a, const Interval& b, F&& f) {
  const std::initializer_list<std::int64_t> corners{f(a.first, b.first), f(a.first, b.last),
                                                    f(a.last, b.first), f(a.last, b.last)};
  return clamped(std::min(corners), std::max(corners));
}

Interval of_two(Operation operation, const Interval& a, const Interval& b) {
  switch (operation) {
    case Operation::add:
      return of_corners(a, b, [](std::int64_t x, std::int64_t y) { return x + y; });
    case Operation::subtract:
      return of_corners(a, b, [](std::int64_t x, std::int64_t y) { return x - y; });
    case Operation::multiply:
      return of_corners(a, b, [](std::int64_t x, std::int64_t y) { return x * y; });
    case Operation::divide:
      if (b.first <= 0) return {};
      return of_corners(a, b, [](std::int64_t x, std::int64_t y) { return x / y; });
    case Operation::remainder:
      if (b.first <= 0) return {};
      return {a.first < 0 ? 1 - b.last : 0, b.last - 1};
    case Operation::minimum:
      return {std::min(a.first, b.first), std::min(a.last, b.last)};
    case Operation::maximum:
      return {std::max(a.first, b.first), std::max(a.last, b.last)};
    case Operation::less:
    case Operation::at_most:
    case Operation::equal:
    case Operation::different:
    case Operation::both:
    case Operation::either:
      return {0, 1};
    default:
      return {};
  }
}
}  // namespace

Interval interval_of(const Expression& expression, const Places& places, const std::vector<Interval>& at) {
  const ExpressionNode& node = *expression.node();
  switch (node.operation) {
    case Operation::constant:
      return clamped(node.value, node.value);
    case Operation::index: {
      const auto place = places.find(&node);
      return place && *place < at.size() ? at[*place] : Interval{};
    }
    case Operation::computed:
      return {};
    case Operation::choose: {
      const Interval a = interval_of(node.operands[1], places, at);
      const Interval b = interval_of(node.operands[2], places, at);
      return {std::min(a.first, b.first), std::max(a.last, b.last)};
    }
    default:
      return of_two(node.operation, interval_of(node.operands[0], places, at),
                    interval_of(node.operands[1], places, at));
  }
}

std::vector<Interval> intervals_of(const std::vector<Range>& indices, const Places& places) {
  std::vector<Interval> at;
  for (const Range& range : indices) {
    const Interval first = interval_of(range.first, places, at);
    const Interval last = range.derived ? first : interval_of(range.last, places, at);
    at.push_back({first.first, last.last});
  }
  return at;
}

}  // namespace fairlead::ptg
