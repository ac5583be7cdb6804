// Facts from ranges and conditions, and proofs from them.
#include "front/ptg/facts.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace fairlead::ptg {

namespace {

bool is_zero(const Expression& expression) {
  const ExpressionNode& node = *expression.node();
  return node.operation == Operation::constant && node.value == 0;
}
bool is_condition(const Expression& expression) {
  const Operation operation = expression.node()->operation;
  return operation >= Operation::less && operation <= Operation::either;
}

Affine negative(const Affine& sum) {
  Affine result;
  result.add(sum, -1);
  return result;
}
Affine minus_one(Affine sum) {
  --sum.constant;
  return sum;
}

}  // namespace

Expression with(const Expression& expression, const Meanings& meanings) {
  const ExpressionNode& node = *expression.node();
  if (node.operation == Operation::constant) return expression;
  if (node.operation == Operation::index) {
    const auto found = meanings.find(&node);
    return found == meanings.end() ? expression : found->second;
  }
  auto copy = std::make_shared<ExpressionNode>(node);
  for (Expression& operand : copy->operands) operand = with(operand, meanings);
  return Expression(std::move(copy));
}

bool take_off_negation(Expression& condition, bool& holds) {
  const ExpressionNode& node = *condition.node();
  const bool equals = node.operation == Operation::equal;
  if ((!equals && node.operation != Operation::different) || !is_zero(node.operands[1]) ||
      !is_condition(node.operands[0]))
    return false;
  holds = equals != holds;
  condition = Expression(node.operands[0]);
  return true;
}

DifferenceBounds differences_of(const std::vector<Range>& ranges, const Places& places,
                                const std::vector<Interval>& bounds) {
  DifferenceBounds known(places.size());
  const auto at_most = [&](const Expression& a, const Expression& b) {
    if (const std::optional<Affine> difference = Affine::difference(b, a, places)) known.add(*difference);
  };
  for (const Range& range : ranges) {
    for_each_of(range.first, Operation::maximum,
                [&](const Expression& first) { at_most(first, range.index); });
    const Expression& last = range.derived ? range.first : range.last;
    for_each_of(last, Operation::minimum, [&](const Expression& end) { at_most(range.index, end); });
  }
  constexpr std::int64_t wide = std::int64_t{1} << 48;
  for (std::size_t place = 0; place < bounds.size(); ++place) {
    if (bounds[place].first < -wide || bounds[place].last > wide) continue;
    Affine above{.constant = -bounds[place].first}, below{.constant = bounds[place].last};
    above.add(static_cast<std::uint8_t>(place), 1);
    below.add(static_cast<std::uint8_t>(place), -1);
    known.add(above);
    known.add(below);
  }
  return known;
}

Facts::Facts(const std::vector<Range>& ranges, const Places& places)
    : places_(places),
      bounds_(intervals_of(ranges, places)),
      known_(differences_of(ranges, places, bounds_)) {}

void Facts::add(const Expression& condition, bool holds) {
  Expression inner = condition;
  while (take_off_negation(inner, holds)) {
  }
  const ExpressionNode& node = *inner.node();
  if (node.operation == (holds ? Operation::both : Operation::either)) {
    add(node.operands[0], holds);
    return add(node.operands[1], holds);
  }
  const std::optional<AffineComparison> compared = AffineComparison::of(inner, holds, places_);
  if (!compared) return;
  switch (compared->kind) {
    case Condition::Kind::zero:
      known_.add(negative(compared->sum));
      [[fallthrough]];
    case Condition::Kind::not_negative:
      known_.add(compared->sum);
      break;
    case Condition::Kind::not_zero:
      not_zero_.push_back(compared->sum);
      break;
  }
  learn_from_differences();
}

/// If a sum is not 0 and has a known sign, it is at least 1 (or at most -1).
void Facts::learn_from_differences() {
  for (std::size_t i = 0; i < not_zero_.size();) {
    const Affine sum = not_zero_[i];
    const bool not_below = implies(sum), not_above = implies(negative(sum));
    if (!not_below && !not_above) {
      ++i;
      continue;
    }
    known_.add(minus_one(not_below ? sum : negative(sum)));
    not_zero_.erase(not_zero_.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;
  }
}

bool Facts::implies(const Affine& sum) const {
  return known_.implies(sum) || interval_of(sum, places_, bounds_).first >= 0;
}

bool Facts::proves(const Expression& condition, bool holds) const {
  Expression inner = condition;
  while (take_off_negation(inner, holds)) {
  }
  const ExpressionNode& node = *inner.node();
  if (node.operation == Operation::both || node.operation == Operation::either) {
    const bool first = proves(node.operands[0], holds), second = proves(node.operands[1], holds);
    return (node.operation == Operation::both) == holds ? first && second : first || second;
  }
  if (node.operation == Operation::constant) return (node.value != 0) == holds;
  const std::optional<AffineComparison> compared = AffineComparison::of(inner, holds, places_);
  if (!compared) return false;
  const Affine& sum = compared->sum;
  switch (compared->kind) {
    case Condition::Kind::zero:
      return implies(sum) && implies(negative(sum));
    case Condition::Kind::not_negative:
      return implies(sum);
    case Condition::Kind::not_zero:
      return implies(minus_one(sum)) || implies(minus_one(negative(sum))) ||
             std::ranges::find(not_zero_, sum) != not_zero_.end() ||
             std::ranges::find(not_zero_, negative(sum)) != not_zero_.end();
  }
  return false;
}

bool Facts::at_least(const Expression& a, const Expression& b) const {
  const std::optional<Affine> difference = Affine::difference(a, b, places_);
  return difference && implies(*difference);
}

bool Facts::equal(const Expression& a, const Expression& b) const { return at_least(a, b) && at_least(b, a); }

}  // namespace fairlead::ptg
