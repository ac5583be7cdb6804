// Solves for the consumers of a value: Gaussian elimination with unit coefficients, then bounds for the remaining
// unknowns.
#include "front/ptg/inverse.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "front/ptg/facts.hpp"

namespace fairlead::ptg {

namespace {

/// A system of equations and inequalities over the producer's indices (known) and the consumer's (unknown).
class System {
 public:
  System(const TableClass& giver, const InvertedInput& input)
      : giver_(giver),
        input_(input),
        of_giver_(differences_of(giver.definition->indices, giver.places, giver.bounds)) {
    for (std::size_t i = 0; i < giver.places.size(); ++i) places_.add(giver.places.index_at(i));
    first_unknown_ = places_.size();
  }

  /// Adds an index of the consumer as an unknown.
  void add_unknown(const Range& range, const Interval& bound) {
    const Index fresh(range.index.text());
    const Range own{fresh, with(range.first, meanings_), with(range.last, meanings_),
                    with(range.step, meanings_), false};
    meanings_.insert_or_assign(range.index.node().get(), fresh);
    places_.add(fresh);
    ranges_.push_back(own);
    bounds_.push_back(bound);
  }
  void add_derived(const Range& range) {
    meanings_.insert_or_assign(range.index.node().get(), with(range.first, meanings_));
  }
  Expression in_unknowns(const Expression& expression) const { return with(expression, meanings_); }

  void equal(const Expression& a, const Expression& b) {
    if (std::optional<Affine> difference = Affine::difference(a, b, places_))
      equations_.push_back(*std::move(difference));
    else
      opaque_.push_back(a == b);
  }
  /// Adds a <= b.
  void at_most(const Expression& a, const Expression& b) {
    if (std::optional<Affine> difference = Affine::difference(b, a, places_))
      not_negative_.push_back(*std::move(difference));
    else
      opaque_.push_back(a <= b);
  }
  void holds(const Expression& condition, bool wanted = true) {
    const ExpressionNode& node = *condition.node();
    if (node.operation == (wanted ? Operation::both : Operation::either)) {
      holds(node.operands[0], wanted);
      return holds(node.operands[1], wanted);
    }
    if (Expression inner = condition; take_off_negation(inner, wanted)) return holds(inner, wanted);
    std::optional<AffineComparison> compared = AffineComparison::of(condition, wanted, places_);
    if (!compared) return opaque_.push_back(wanted ? condition : !condition);
    auto& of_its_kind = compared->kind == Condition::Kind::not_negative ? not_negative_
                        : compared->kind == Condition::Kind::zero       ? equations_
                                                                        : different_;
    of_its_kind.push_back(std::move(compared->sum));
  }

  /// Adds the ranges of the unknowns. A bound that is not affine becomes a bound of its loop in add_other_bounds(),
  /// if it depends on earlier indices only.
  void within_ranges() {
    for (const Range& range : ranges_) {
      for_each_of(range.first, Operation::maximum,
                  [&](const Expression& first) { at_most(first, range.index); });
      for_each_of(range.last, Operation::minimum,
                  [&](const Expression& last) { at_most(range.index, last); });
      if (range.step.node()->operation != Operation::constant || range.step.node()->value != 1)
        opaque_.push_back((range.index - range.first) % range.step == 0);
    }
  }

  std::optional<ClassEdge> solve(std::size_t parameters, const TableClass& taker) {
    while (eliminate_one()) {
    }
    ClassEdge edge;
    for (const Affine& equation : equations_) {
      if (std::ranges::all_of(equation.terms,
                              [&](const auto& term) { return term.first < first_unknown_; })) {
        if (equation.terms.empty() && equation.constant != 0) return std::nullopt;
        if (!equation.terms.empty()) edge.before.add({Formula(equation), Condition::Kind::zero});
        Affine negative;
        negative.add(equation, -1);
        of_giver_.add(equation);
        of_giver_.add(negative);
        continue;
      }
      Affine negative;
      negative.add(equation, -1);
      not_negative_.push_back(equation);
      not_negative_.push_back(std::move(negative));
    }
    for (Affine& condition : not_negative_) condition = in_solved(condition);
    for (Affine& difference : different_) difference = in_solved(difference);
    if (!add_loops(edge)) return std::nullopt;
    add_opaque(edge);
    Affine name{.constant = static_cast<std::int64_t>(taker.first_key)};
    for (std::size_t i = 0; i < parameters; ++i) {
      const Affine value = value_of(first_unknown_ + i);
      edge.indices.emplace_back(value);
      name.add(value, static_cast<std::int64_t>(taker.axes[i].stride));
      name.constant -= taker.axes[i].first * static_cast<std::int64_t>(taker.axes[i].stride);
    }
    edge.key.emplace(name);  // the consumer's ranges are among the conditions
    return edge;
  }

 private:
  /// Eliminates one unknown that an equation determines.
  bool eliminate_one() {
    for (std::size_t i = 0; i < equations_.size(); ++i)
      for (const auto& [place, factor] : equations_[i].terms) {
        if (place < first_unknown_ || (factor != 1 && factor != -1)) continue;
        Affine value;
        value.add(equations_[i], -factor);  // factor is 1 or -1, its own reciprocal
        value.add(place, 1);
        const std::uint8_t found = place;
        equations_.erase(equations_.begin() + static_cast<std::ptrdiff_t>(i));
        for (Affine& other : equations_) replace(other, found, value);
        for (auto& [other, other_value] : solved_) replace(other_value, found, value);
        solved_.emplace(found, std::move(value));
        return true;
      }
    return false;
  }
  static void replace(Affine& in, std::uint8_t place, const Affine& value) {
    const std::int64_t factor = in.factor_of(place);
    if (factor == 0) return;
    in.add(place, -factor);
    in.add(value, factor);
  }
  Affine in_solved(Affine sum) const {
    for (const auto& [place, value] : solved_) replace(sum, place, value);
    return sum;
  }
  Affine value_of(std::size_t place) const {
    const auto found = solved_.find(static_cast<std::uint8_t>(place));
    if (found != solved_.end()) return found->second;
    Affine itself;
    itself.add(static_cast<std::uint8_t>(place), 1);
    return itself;
  }
  bool is_free(std::size_t place) const {
    return place >= first_unknown_ && !solved_.contains(static_cast<std::uint8_t>(place));
  }

  /// Turns each inequality into a bound of the last free unknown in it. Inequalities without one become conditions on
  /// the producer. Returns false if one of them never holds.
  bool add_loops(ClassEdge& edge) {
    std::vector<std::vector<Affine>> of(places_.size());
    std::vector<Affine> before;
    for (Affine& condition : not_negative_) {
      const auto last = std::ranges::find_if(condition.terms.rbegin(), condition.terms.rend(),
                                             [&](const auto& term) { return is_free(term.first); });
      (last == condition.terms.rend() ? before : of[last->first]).push_back(std::move(condition));
    }
    before = tightest(std::move(before));
    for (const Affine& condition : before)
      if (condition.terms.empty() && condition.constant < 0) return false;
    const DifferenceBounds known = drop_what_follows(before);
    for (const Affine& condition : before)
      edge.before.add({Formula(condition), Condition::Kind::not_negative});
    for (const Affine& difference : different_) {
      const bool is_known =
          std::ranges::none_of(difference.terms, [&](const auto& term) { return is_free(term.first); });
      if (is_known && surely_not_zero(difference, known)) continue;
      (is_known ? edge.before : edge.after).add({Formula(difference), Condition::Kind::not_zero});
    }
    for (std::size_t place = first_unknown_; place < places_.size(); ++place) {
      if (!is_free(place)) continue;
      Loop loop;
      loop.place = static_cast<std::uint8_t>(place);
      for (const Affine& condition : tightest(std::move(of[place]))) loop.bound(condition);
      add_other_bounds(place, loop);
      const Interval& bound = bounds_[place - first_unknown_];
      const bool unbounded = (loop.first.empty() && bound.first <= Interval::least) ||
                             (loop.last.empty() && bound.last >= Interval::most);
      if (unbounded)
        throw UsageError(
            fmt::format("the input \"{}\" of {} cannot be inverted: its index {} is unbounded\n  State the "
                        "receivers with .to() at the sending flow.",
                        input_.flow.name, text_of(input_.taker), places_.index_at(place).text()));
      if (loop.first.empty()) loop.first.push_back({Formula(Affine{.constant = bound.first})});
      if (loop.last.empty()) loop.last.push_back({Formula(Affine{.constant = bound.last})});
      edge.loops.push_back(std::move(loop));
    }
    return true;
  }
  /// Adds bounds of the range that are not affine, if their operands are known inside the loop.
  void add_other_bounds(std::size_t place, Loop& loop) const {
    const Range& range = ranges_[place - first_unknown_];
    Meanings solved;
    for (const auto& [other, value] : solved_) {
      Expression sum = value.constant;
      for (const auto& [at, factor] : value.terms) sum = sum + factor * places_.index_at(at);
      solved.insert_or_assign(places_.index_at(other).node().get(), sum);
    }
    const auto add = [&](const Expression& end, std::vector<Bound>& bounds) {
      if (Affine::of(end, places_)) return;
      const Expression known = with(end, solved);
      if (speaks_only_of_earlier(known, place)) bounds.push_back({Formula(known, places_)});
    };
    for_each_of(range.first, Operation::maximum, [&](const Expression& first) { add(first, loop.first); });
    for_each_of(range.last, Operation::minimum, [&](const Expression& last) { add(last, loop.last); });
  }
  bool speaks_only_of_earlier(const Expression& expression, std::size_t place) const {
    const ExpressionNode& node = *expression.node();
    if (node.operation == Operation::index) {
      const auto at = places_.find(&node);
      return at && *at < place && (*at < first_unknown_ || is_free(*at));
    }
    return std::ranges::all_of(node.operands,
                               [&](const Expression& each) { return speaks_only_of_earlier(each, place); });
  }
  /// Keeps only the tightest of inequalities that differ in nothing but their constants.
  static std::vector<Affine> tightest(std::vector<Affine> conditions) {
    std::vector<Affine> kept;
    for (Affine& condition : conditions) {
      const auto same = std::ranges::find(kept, condition.terms, &Affine::terms);
      if (same == kept.end()) {
        kept.push_back(std::move(condition));
      } else {
        same->constant = std::min(same->constant, condition.constant);
      }
    }
    return kept;
  }
  Interval interval_of(const Affine& sum) const {
    return ptg::interval_of(sum, giver_.places, giver_.bounds);
  }
  /// Drops the conditions that follow from the others and the producer's ranges. Returns all constraints that hold
  /// then.
  DifferenceBounds drop_what_follows(std::vector<Affine>& conditions) const {
    std::erase_if(conditions, [&](const Affine& condition) { return interval_of(condition).first >= 0; });
    for (std::size_t i = 0; i < conditions.size();) {
      DifferenceBounds others = of_giver_;
      for (std::size_t k = 0; k < conditions.size(); ++k)
        if (k != i) others.add(conditions[k]);
      if (others.implies(conditions[i])) {
        conditions.erase(conditions.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    DifferenceBounds all = of_giver_;
    for (const Affine& condition : conditions) all.add(condition);
    return all;
  }
  bool surely_not_zero(const Affine& sum, const DifferenceBounds& known) const {
    const Interval between = interval_of(sum);
    if (between.first > 0 || between.last < 0) return true;
    Affine above = sum, below;
    --above.constant;
    below.add(sum, -1);
    --below.constant;
    return known.implies(above) || known.implies(below);
  }
  void add_opaque(ClassEdge& edge) {
    if (opaque_.empty()) return;
    for (std::size_t place = first_unknown_; place < places_.size(); ++place)
      if (!is_free(place)) edge.solved.emplace_back(static_cast<std::uint8_t>(place), value_of(place));
    for (const Expression& condition : opaque_) {
      if (condition.node()->operation == Operation::equal) refuse_if_search(condition);
      edge.after.add(condition, places_);
    }
  }
  bool speaks_of_free(const Expression& expression) const {
    const ExpressionNode& node = *expression.node();
    if (node.operation == Operation::index) {
      const auto place = places_.find(&node);
      return place && is_free(*place);
    }
    return std::ranges::any_of(node.operands, [&](const Expression& each) { return speaks_of_free(each); });
  }
  /// Throws UsageError for an equation that is not affine and contains a free unknown: all values would have to be
  /// tried.
  void refuse_if_search(const Expression& condition) const {
    if (!searched_.contains(condition.node().get()) || !speaks_of_free(condition)) return;
    throw UsageError(
        fmt::format("the input \"{}\" of {} cannot be inverted: the tasks for which {} holds cannot be "
                    "determined\n  State the receivers with .to() at the flow \"{}\" of {}.",
                    input_.flow.name, text_of(input_.taker), condition.text(),
                    input_.flow.inputs[input_.alternative].place.flow, text_of(*giver_.definition)));
  }

 public:
  /// Like equal(), for the indices by which the input names its producer: they must determine the unknowns.
  void names(const Expression& of_taker, const Expression& of_giver) {
    const std::size_t before = opaque_.size();
    equal(of_taker, of_giver);
    if (opaque_.size() != before) searched_.emplace(opaque_.back().node().get(), true);
  }

 private:
  const TableClass& giver_;
  const InvertedInput& input_;
  DifferenceBounds of_giver_;  // constraints on the producer's indices
  Places places_;
  std::size_t first_unknown_ = 0;
  Meanings meanings_;
  std::vector<Range> ranges_;  // of the unknowns, in terms of the unknowns
  std::vector<Interval> bounds_;
  std::vector<Affine> equations_, not_negative_, different_;
  std::vector<Expression> opaque_;  // conditions that are not affine
  std::map<const ExpressionNode*, bool> searched_;
  std::map<std::uint8_t, Affine> solved_;  // eliminated unknowns, in terms of known and free indices
};

}  // namespace

std::optional<ClassEdge> invert(const InvertedInput& input, const TableClass& giver,
                                const TableClass& taker) {
  System system(giver, input);
  Places of_taker;
  for (const Range& range : input.taker.indices) of_taker.add(range.index);
  const Alternative& alternative = input.flow.inputs[input.alternative];
  std::vector<Range> all = input.taker.indices;
  for (const Range& range : alternative.ranges) {
    of_taker.add(range.index);
    all.push_back(range);
  }
  const std::vector<Interval> bounds = intervals_of(all, of_taker);
  std::size_t parameters = 0;
  for (std::size_t i = 0; i < input.taker.indices.size(); ++i) {
    const Range& range = input.taker.indices[i];
    if (range.derived) {
      system.add_derived(range);
    } else {
      system.add_unknown(range, bounds[i]);
      ++parameters;
    }
  }
  for (std::size_t i = 0; i < alternative.ranges.size(); ++i)
    system.add_unknown(alternative.ranges[i], bounds[input.taker.indices.size() + i]);
  for (std::size_t i = 0; i < alternative.place.indices.size(); ++i)
    system.names(system.in_unknowns(alternative.place.indices[i]),
                 giver.places.index_at(giver.parameters[i]));
  system.within_ranges();
  for (std::size_t i = 0; !input.flow.control && i < input.alternative; ++i) {
    const auto& earlier = input.flow.inputs[i].condition;
    if (!earlier) return std::nullopt;  // the earlier input always applies
    system.holds(system.in_unknowns(*earlier), false);
  }
  if (alternative.condition) system.holds(system.in_unknowns(*alternative.condition));
  return system.solve(parameters, taker);
}

}  // namespace fairlead::ptg
