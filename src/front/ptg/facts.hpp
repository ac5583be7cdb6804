// Facts about index values that follow from ranges and conditions. They decide conditions once for all tasks of a
// class instead of once for each task.
#pragma once
#include <fairlead/ptg/expression.hpp>

#include <map>
#include <vector>

#include "front/ptg/difference_bounds.hpp"
#include "front/ptg/interval.hpp"

namespace fairlead::ptg {

/// A substitution: what each index stands for.
using Meanings = std::map<const ExpressionNode*, Expression>;

/// Substitutes indices in the expression; indices without a meaning stay.
Expression with(const Expression& expression, const Meanings& meanings);

/// Removes one negation. `!(a < b)` is represented as (a < b) == 0, and a double negation as != 0. If `condition` has
/// this form, replaces it by the inner condition, adapts `holds`, and returns true.
bool take_off_negation(Expression& condition, bool& holds);

/// Calls f for each operand of nested minima (or maxima); for the expression itself if it has another operation.
template <class F>
void for_each_of(const Expression& expression, Operation operation, F&& f) {
  const ExpressionNode& node = *expression.node();
  if (node.operation != operation) return f(expression);
  for_each_of(node.operands[0], operation, f);
  for_each_of(node.operands[1], operation, f);
}

/// The constraints given by the ranges of the indices, and by the intervals of the numbers at the first places.
DifferenceBounds differences_of(const std::vector<Range>& ranges, const Places& places,
                                const std::vector<Interval>& bounds);

/// Known constraints on the numbers at the places: an interval for each, and conditions.
class Facts {
 public:
  /// For indices in these ranges, with places in the same order. `places` must outlive the object.
  Facts(const std::vector<Range>& ranges, const Places& places);

  /// Adds the fact that the condition holds, or does not hold.
  void add(const Expression& condition, bool holds);
  /// True if sum >= 0 is proven.
  bool implies(const Affine& sum) const;
  /// True if it is proven that the condition holds (or, with `holds` false, that it does not). False: unknown.
  bool proves(const Expression& condition, bool holds) const;
  /// True if a >= b (or a == b) is proven.
  bool at_least(const Expression& a, const Expression& b) const;
  bool equal(const Expression& a, const Expression& b) const;

 private:
  void learn(const Affine& sum);
  void learn_from_differences();

  const Places& places_;
  std::vector<Interval> bounds_;
  DifferenceBounds known_;
  std::vector<Affine> not_zero_;
};

}  // namespace fairlead::ptg
