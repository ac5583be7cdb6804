// Interval arithmetic for each operation.
#include "front/ptg/interval.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace fairlead::ptg {

namespace {
__extension__ using Wide = __int128;

Interval hull(const Interval& a, const Interval& b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}
Interval within(const Interval& a, const Interval& b) {
  return {std::max(a.first, b.first), std::min(a.last, b.last)};
}
constexpr Interval empty_interval{0, -1};

/// The hull of the values at the four corners. If one overflows 64 bits, which wraps around, any value is possible.
template <class F>
Interval of_corners(const Interval& a, const Interval& b, F&& f) {
  const std::initializer_list<Wide> corners{f(a.first, b.first), f(a.first, b.last), f(a.last, b.first),
                                            f(a.last, b.last)};
  const Wide first = std::min(corners), last = std::max(corners);
  constexpr Interval all = Interval::unknown();
  if (first < all.first || last > all.last) return all;
  return {static_cast<std::int64_t>(first), static_cast<std::int64_t>(last)};
}

/// Division by 0 yields no value.
Interval quotient(const Interval& a, const Interval& b) {
  const auto by = [&](const Interval& part) {
    return part.is_empty() ? empty_interval : of_corners(a, part, [](Wide x, Wide y) { return x / y; });
  };
  return hull(by(within(b, {Interval::unknown().first, -1})), by(within(b, {1, Interval::unknown().last})));
}

/// The remainder has the sign of the dividend, and a magnitude of at most the dividend's and less than the divisor's.
Interval remainder(const Interval& a, const Interval& b) {
  const Wide divisor = std::max(-Wide{b.first}, Wide{b.last});
  const auto most = static_cast<std::int64_t>(std::clamp<Wide>(divisor - 1, 0, Interval::unknown().last));
  return {std::max(std::min<std::int64_t>(a.first, 0), -most),
          std::min(std::max<std::int64_t>(a.last, 0), most)};
}

/// All numbers with at most as many bits as both operands; negative ones only if an operand may be negative.
Interval of_bits(const Interval& a, const Interval& b) {
  const auto bits = [](std::int64_t value) {
    return std::bit_width(static_cast<std::uint64_t>(value < 0 ? ~value : value));
  };
  const int width = std::max({bits(a.first), bits(a.last), bits(b.first), bits(b.last)});
  const std::int64_t most = width >= 63 ? Interval::unknown().last : (std::int64_t{1} << width) - 1;
  return {a.first < 0 || b.first < 0 ? -most - 1 : 0, most};
}

Interval bits_and(const Interval& a, const Interval& b) {
  if (a.first < 0 && b.first < 0) return of_bits(a, b);
  return {0, std::min(a.first < 0 ? b.last : a.last, b.first < 0 ? a.last : b.last)};
}

/// A shift uses the lowest 6 bits of its distance.
Interval distance(const Interval& b) { return b.first < 0 || b.last > 63 ? Interval{0, 63} : b; }

Interval of_two(Operation operation, const Interval& a, const Interval& b) {
  if (a.is_empty() || b.is_empty()) return empty_interval;
  switch (operation) {
    case Operation::add:
      return of_corners(a, b, [](Wide x, Wide y) { return x + y; });
    case Operation::subtract:
      return of_corners(a, b, [](Wide x, Wide y) { return x - y; });
    case Operation::multiply:
      return of_corners(a, b, [](Wide x, Wide y) { return x * y; });
    case Operation::divide:
      return quotient(a, b);
    case Operation::remainder:
      return remainder(a, b);
    case Operation::minimum:
      return {std::min(a.first, b.first), std::min(a.last, b.last)};
    case Operation::maximum:
      return {std::max(a.first, b.first), std::max(a.last, b.last)};
    case Operation::bits_and:
      return bits_and(a, b);
    case Operation::bits_or:
    case Operation::bits_xor:
      return of_bits(a, b);
    case Operation::shift_left:
      return of_corners(a, distance(b), [](Wide x, Wide y) { return x * (Wide{1} << static_cast<int>(y)); });
    case Operation::shift_right:
      return of_corners(a, distance(b), [](Wide x, Wide y) { return x >> static_cast<int>(y); });
    case Operation::less:
    case Operation::at_most:
    case Operation::equal:
    case Operation::different:
    case Operation::both:
    case Operation::either:
      return {0, 1};
    default:
      return Interval::unknown();
  }
}
}  // namespace

Interval interval_of(const Expression& expression, const Places& places, const std::vector<Interval>& at) {
  const ExpressionNode& node = *expression.node();
  switch (node.operation) {
    case Operation::constant:
      return {node.value, node.value};
    case Operation::index: {
      const auto place = places.find(&node);
      return place && *place < at.size() ? at[*place] : Interval::unknown();
    }
    case Operation::computed:
      return Interval::unknown();
    case Operation::choose:
      return hull(interval_of(node.operands[1], places, at), interval_of(node.operands[2], places, at));
    default:
      return of_two(node.operation, interval_of(node.operands[0], places, at),
                    interval_of(node.operands[1], places, at));
  }
}

Interval interval_of(const Affine& sum, const Places& places, const std::vector<Interval>& at) {
  Expression all = sum.constant;
  for (const auto& [place, factor] : sum.terms) all = all + factor * places.index_at(place);
  return interval_of(all, places, at);
}

std::vector<Interval> intervals_of(const std::vector<Range>& indices, const Places& places) {
  std::vector<Interval> at;
  for (const Range& range : indices) {
    const Interval first = interval_of(range.first, places, at);
    if (range.derived) {
      at.push_back(first);
      continue;
    }
    const Interval last = interval_of(range.last, places, at);
    at.push_back(first.is_empty() || last.is_empty() ? empty_interval
                                                     : within({first.first, last.last}, Interval{}));
  }
  return at;
}

}  // namespace fairlead::ptg
