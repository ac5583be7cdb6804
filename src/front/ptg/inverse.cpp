// See inverse.hpp.
#include "front/ptg/inverse.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "front/ptg/differences.hpp"

namespace fairlead::ptg {

namespace {

/// What an index stands for.
using Meanings = std::map<const ExpressionNode*, Expression>;

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

bool is(const Expression& expression, Operation operation) {
  return expression.node()->operation == operation;
}
const Expression& operand(const Expression& expression, std::size_t i) {
  return expression.node()->operands[i];
}
bool is_zero(const Expression& expression) {
  return is(expression, Operation::constant) && expression.node()->value == 0;
}
bool says_yes_or_no(const Expression& expression) {
  const Operation operation = expression.node()->operation;
  return operation >= Operation::less && operation <= Operation::either;
}

/// The conditions that hold together, and what they say of sums.
class System {
 public:
  System(const TableClass& giver, const InputToInvert& input)
      : giver_(giver), input_(input), of_giver_(ranges_of(giver)) {
    for (std::size_t i = 0; i < giver.places.size(); ++i) places_.add(giver.places.index_at(i));
    first_unknown_ = places_.size();
  }

  /// An index of the taker's, which is to be found out.
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
  /// a <= b.
  void at_most(const Expression& a, const Expression& b) {
    if (std::optional<Affine> difference = Affine::difference(b, a, places_))
      not_negative_.push_back(*std::move(difference));
    else
      opaque_.push_back(a <= b);
  }
  void holds(const Expression& condition, bool wanted = true) {
    if (is(condition, wanted ? Operation::both : Operation::either)) {
      holds(operand(condition, 0), wanted);
      return holds(operand(condition, 1), wanted);
    }
    // Of a condition, that it is 0 or is not.
    const bool equal_to_zero = is(condition, Operation::equal),
               compares = equal_to_zero || is(condition, Operation::different);
    if (compares && is_zero(operand(condition, 1)) && says_yes_or_no(operand(condition, 0)))
      return holds(operand(condition, 0), equal_to_zero != wanted);
    std::optional<Comparison> compared = Comparison::of(condition, wanted, places_);
    if (!compared) return opaque_.push_back(wanted ? condition : !condition);
    auto& of_its_kind = compared->kind == Condition::Kind::not_negative ? not_negative_
                        : compared->kind == Condition::Kind::zero       ? equations_
                                                                        : different_;
    of_its_kind.push_back(std::move(compared->sum));
  }

  /// All numbers that the ranges allow. What is no sum, of an index that stays free, is a bound of its loop if it
  /// says nothing of later ones.
  void within_ranges() {
    for (const Range& range : ranges_) {
      for_each_of(range.first, Operation::maximum,
                  [&](const Expression& first) { at_most(first, range.index); });
      for_each_of(range.last, Operation::minimum,
                  [&](const Expression& last) { at_most(range.index, last); });
      if (!is(range.step, Operation::constant) || range.step.node()->value != 1)
        opaque_.push_back((range.index - range.first) % range.step == 0);
    }
  }

  std::optional<Edge> solve(std::size_t parameters, const TableClass& taker) {
    while (eliminate_one()) {
    }
    Edge edge;
    for (const Affine& equation : equations_) {
      if (std::ranges::all_of(equation.terms,
                              [&](const auto& term) { return term.first < first_unknown_; })) {
        if (equation.terms.empty() && equation.constant != 0) return std::nullopt;
        if (!equation.terms.empty()) edge.before.add({Formula(equation), Condition::Kind::zero});
        Affine negative;
        negative.add(equation, -1);
        of_giver_.know(equation);
        of_giver_.know(negative);
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
    Affine name{.constant = static_cast<std::int64_t>(taker.first_name)};
    for (std::size_t i = 0; i < parameters; ++i) {
      const Affine value = value_of(first_unknown_ + i);
      edge.indices.emplace_back(value);
      name.add(value, static_cast<std::int64_t>(taker.axes[i].stride));
      name.constant -= taker.axes[i].first * static_cast<std::int64_t>(taker.axes[i].stride);
    }
    edge.name.emplace(name);  // its ranges are among the conditions
    return edge;
  }

 private:
  /// All that one of min and max is made of.
  template <class F>
  static void for_each_of(const Expression& expression, Operation operation, F&& f) {
    if (!is(expression, operation)) return f(expression);
    for_each_of(operand(expression, 0), operation, f);
    for_each_of(operand(expression, 1), operation, f);
  }

  /// An equation says what one of the unknowns is.
  bool eliminate_one() {
    for (std::size_t i = 0; i < equations_.size(); ++i)
      for (const auto& [place, factor] : equations_[i].terms) {
        if (place < first_unknown_ || (factor != 1 && factor != -1)) continue;
        Affine value;
        value.add(equations_[i], -factor);  // 1 / factor is factor
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

  /// The conditions become bounds of the last free index that they speak of; those that speak of none have to
  /// hold before. False if one of them never does.
  bool add_loops(Edge& edge) {
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
    const Differences known = drop_what_follows(before);
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
            fmt::format("the input \"{}\" of {} cannot be turned round: nothing bounds its index {}\n"
                        "  Say with .to(), at the giver's flow, which tasks its value goes to.",
                        input_.flow.name, text_of(input_.taker), places_.index_at(place).text()));
      if (loop.first.empty()) loop.first.push_back({Formula(Affine{.constant = bound.first})});
      if (loop.last.empty()) loop.last.push_back({Formula(Affine{.constant = bound.last})});
      edge.loops.push_back(std::move(loop));
    }
    return true;
  }
  /// Ends of the range that are no sums, as far as they follow from numbers that are known in the loop.
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
  /// Of those that differ in their constants only, the one that says most.
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
  /// Of what is known.
  Interval interval_of(const Affine& sum) const {
    Expression all = sum.constant;
    for (const auto& [place, factor] : sum.terms) all = all + factor * giver_.places.index_at(place);
    return ptg::interval_of(all, giver_.places, giver_.bounds);
  }
  /// Leaves the conditions that do not follow from the others and the giver's own ranges. What is known if all
  /// hold.
  Differences drop_what_follows(std::vector<Affine>& conditions) const {
    std::erase_if(conditions, [&](const Affine& condition) { return interval_of(condition).first >= 0; });
    for (std::size_t i = 0; i < conditions.size();) {
      Differences others = of_giver_;
      for (std::size_t k = 0; k < conditions.size(); ++k)
        if (k != i) others.know(conditions[k]);
      if (others.implies(conditions[i])) {
        conditions.erase(conditions.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    Differences all = of_giver_;
    for (const Affine& condition : conditions) all.know(condition);
    return all;
  }
  bool surely_not_zero(const Affine& sum, const Differences& known) const {
    const Interval between = interval_of(sum);
    if (between.first > 0 || between.last < 0) return true;
    Affine above = sum, below;
    --above.constant;
    below.add(sum, -1);
    --below.constant;
    return known.implies(above) || known.implies(below);
  }
  /// What the ranges of a class say of its indices.
  static Differences ranges_of(const TableClass& of) {
    Differences known(of.places.size());
    const auto at_most = [&](const Expression& a, const Expression& b) {
      if (const std::optional<Affine> difference = Affine::difference(b, a, of.places))
        known.know(*difference);
    };
    for (const Range& range : of.definition->indices) {
      for_each_of(range.first, Operation::maximum,
                  [&](const Expression& first) { at_most(first, range.index); });
      const Expression& last = range.derived ? range.first : range.last;
      for_each_of(last, Operation::minimum, [&](const Expression& end) { at_most(range.index, end); });
    }
    constexpr std::int64_t wide = std::int64_t{1} << 48;
    for (std::size_t place = 0; place < of.bounds.size(); ++place) {
      if (of.bounds[place].first < -wide || of.bounds[place].last > wide) continue;
      Affine above{.constant = -of.bounds[place].first}, below{.constant = of.bounds[place].last};
      above.add(static_cast<std::uint8_t>(place), 1);
      below.add(static_cast<std::uint8_t>(place), -1);
      known.know(above);
      known.know(below);
    }
    return known;
  }

  void add_opaque(Edge& edge) {
    if (opaque_.empty()) return;
    for (std::size_t place = first_unknown_; place < places_.size(); ++place)
      if (!is_free(place)) edge.solved.emplace_back(static_cast<std::uint8_t>(place), value_of(place));
    for (const Expression& condition : opaque_) {
      if (is(condition, Operation::equal)) refuse_if_search(condition);
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
  /// An equation that is no sum would have to be tried with all numbers of an index that nothing else settles.
  void refuse_if_search(const Expression& condition) const {
    if (!searched_.contains(condition.node().get()) || !speaks_of_free(condition)) return;
    throw UsageError(
        fmt::format("the input \"{}\" of {} cannot be turned round: for which of its tasks is {}?\n"
                    "  Say with .to(), at the flow \"{}\" of {}, which tasks its value goes to.",
                    input_.flow.name, text_of(input_.taker), condition.text(),
                    input_.flow.inputs[input_.alternative].place.flow, text_of(*giver_.definition)));
  }

 public:
  /// As equal(), of what the input names: this has to settle the indices.
  void names(const Expression& of_taker, const Expression& of_giver) {
    const std::size_t before = opaque_.size();
    equal(of_taker, of_giver);
    if (opaque_.size() != before) searched_.emplace(opaque_.back().node().get(), true);
  }

 private:
  const TableClass& giver_;
  const InputToInvert& input_;
  Differences of_giver_;  // what is known of its indices
  Places places_;
  std::size_t first_unknown_ = 0;
  Meanings meanings_;
  std::vector<Range> ranges_;  // of the unknowns, in them
  std::vector<Interval> bounds_;
  std::vector<Affine> equations_, not_negative_, different_;
  std::vector<Expression> opaque_;  // conditions that are no sums
  std::map<const ExpressionNode*, bool> searched_;
  std::map<std::uint8_t, Affine> solved_;  // in what is known, and free
};

}  // namespace

std::optional<Edge> inverse_of(const InputToInvert& input, const TableClass& giver, const TableClass& taker) {
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
    if (!earlier) return std::nullopt;  // that one always holds
    system.holds(system.in_unknowns(*earlier), false);
  }
  if (alternative.condition) system.holds(system.in_unknowns(*alternative.condition));
  return system.solve(parameters, taker);
}

}  // namespace fairlead::ptg
