// Affine forms, and the compiler and interpreter for other expressions.
#include "front/ptg/formula.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace fairlead::ptg {

std::uint8_t Places::add(const Expression& index) {
  if (indices_.size() == most)
    throw UsageError("the index " + index.text() +
                     " is one too many: a task and an edge of a parameterized " + "graph have at most " +
                     std::to_string(most) + " indices together");
  indices_.push_back(index);
  return static_cast<std::uint8_t>(indices_.size() - 1);
}

std::optional<std::uint8_t> Places::find(const ExpressionNode* index) const noexcept {
  // From the end: an edge's own index hides the task's index.
  for (std::size_t i = indices_.size(); i-- > 0;)
    if (indices_[i].node().get() == index) return static_cast<std::uint8_t>(i);
  return std::nullopt;
}

namespace {
std::uint8_t place_of(const ExpressionNode& index, const Places& places) {
  const std::optional<std::uint8_t> place = places.find(&index);
  if (!place) throw UsageError("the index " + index.name + " is not an index of this task");
  return *place;
}
}  // namespace

void Affine::add(std::uint8_t place, std::int64_t factor) {
  const auto at = std::ranges::lower_bound(terms, place, {}, &std::pair<std::uint8_t, std::int64_t>::first);
  if (at == terms.end() || at->first != place) {
    if (factor != 0) terms.insert(at, {place, factor});
    return;
  }
  at->second = apply(Operation::add, at->second, factor);
  if (at->second == 0) terms.erase(at);
}

void Affine::add(const Affine& other, std::int64_t factor) {
  constant = apply(Operation::add, constant, apply(Operation::multiply, other.constant, factor));
  for (const auto& [place, each] : std::vector(other.terms))
    add(place, apply(Operation::multiply, each, factor));
}

std::int64_t Affine::factor_of(std::uint8_t place) const noexcept {
  for (const auto& [at, factor] : terms)
    if (at == place) return factor;
  return 0;
}

std::optional<Affine> Affine::of(const Expression& expression, const Places& places) {
  const ExpressionNode& node = *expression.node();
  Affine sum;
  if (node.operation == Operation::constant) {
    sum.constant = node.value;
    return sum;
  }
  if (node.operation == Operation::index) {
    sum.add(place_of(node, places), 1);
    return sum;
  }
  if (node.operation <= Operation::choose) return std::nullopt;
  std::optional<Affine> a = of(node.operands[0], places);
  const std::optional<Affine> b = of(node.operands[1], places);
  if (!a || !b) return std::nullopt;
  const bool by_zero =
      b->constant == 0 && (node.operation == Operation::divide || node.operation == Operation::remainder);
  if (a->terms.empty() && b->terms.empty() && !by_zero) {
    sum.constant = apply(node.operation, a->constant, b->constant);
    return sum;
  }
  if (node.operation == Operation::multiply) {
    if (!a->terms.empty() && !b->terms.empty()) return std::nullopt;
    const bool constant_first = a->terms.empty();
    sum.add(constant_first ? *b : *a, (constant_first ? *a : *b).constant);
    return sum;
  }
  if (node.operation != Operation::add && node.operation != Operation::subtract) return std::nullopt;
  a->add(*b, node.operation == Operation::add ? 1 : -1);
  return a;
}

std::optional<Affine> Affine::difference(const Expression& a, const Expression& b, const Places& places) {
  std::optional<Affine> first = of(a, places);
  const std::optional<Affine> second = of(b, places);
  if (!first || !second) return std::nullopt;
  first->add(*second, -1);
  return first;
}

/// A program for a stack machine.
struct Formula::Program {
  struct Step {
    enum class Kind : std::uint8_t { push, load, operate, call, jump, jump_if_zero, jump_if_not_zero, truth };
    Kind kind = Kind::push;
    Operation operation = Operation::constant;
    std::uint32_t count = 0;  // of operands; or a place; or a jump target
    std::int64_t value = 0;
    const ExpressionNode* node = nullptr;
  };
  std::vector<Step> steps;
  std::vector<Expression> kept;  // keep alive the nodes with functions
};

Formula::Formula(const Affine& sum) {
  const bool small = std::ranges::all_of(sum.terms, [](const auto& term) {
    return term.second >= std::numeric_limits<std::int32_t>::min() &&
           term.second <= std::numeric_limits<std::int32_t>::max();
  });
  if (sum.terms.size() <= most_terms && small) {
    constant_ = sum.constant;
    for (std::size_t i = 0; i < sum.terms.size(); ++i) {
      places_[i] = sum.terms[i].first;
      factors_[i] = static_cast<std::int32_t>(sum.terms[i].second);
    }
    return;
  }
  auto program = std::make_shared<Program>();
  using Kind = Program::Step::Kind;
  program->steps.push_back({.value = sum.constant});
  for (const auto& [place, factor] : sum.terms) {
    program->steps.push_back({.kind = Kind::load, .count = place});
    program->steps.push_back({.value = factor});
    program->steps.push_back({.kind = Kind::operate, .operation = Operation::multiply});
    program->steps.push_back({.kind = Kind::operate, .operation = Operation::add});
  }
  program_ = std::move(program);
}

Formula::Formula(const Expression& expression, const Places& places) {
  if (const std::optional<Affine> sum = Affine::of(expression, places)) {
    *this = Formula(*sum);
    return;
  }
  auto program = std::make_shared<Program>();
  compile(expression, places, 1, *program);
  program_ = std::move(program);
}

/// Compiles an expression to steps that leave one number on the stack, which then holds `depth` numbers.
void Formula::compile(const Expression& expression, const Places& places, std::size_t depth, Program& into) {
  using Step = Program::Step;
  const ExpressionNode& node = *expression.node();
  if (depth > deepest)
    throw UsageError("an expression is nested too deeply: " + expression.text().substr(0, 100) + " ...");
  const auto jump = [&](Step::Kind kind) {
    into.steps.push_back({.kind = kind});
    return into.steps.size() - 1;
  };
  const auto land = [&](std::size_t from) {
    into.steps[from].count = static_cast<std::uint32_t>(into.steps.size());
  };
  switch (node.operation) {
    case Operation::constant:
      into.steps.push_back({.value = node.value});
      return;
    case Operation::index:
      into.steps.push_back({.kind = Step::Kind::load, .count = place_of(node, places)});
      return;
    case Operation::choose: {
      compile(node.operands[0], places, depth, into);
      const std::size_t to_other = jump(Step::Kind::jump_if_zero);
      compile(node.operands[1], places, depth, into);
      const std::size_t to_end = jump(Step::Kind::jump);
      land(to_other);
      compile(node.operands[2], places, depth, into);
      return land(to_end);
    }
    case Operation::both:
    case Operation::either: {
      // Short-circuit evaluation: the first operand is the result, or is replaced by the second.
      compile(node.operands[0], places, depth, into);
      into.steps.push_back({.kind = Step::Kind::truth});
      const bool both = node.operation == Operation::both;
      const std::size_t to_second = jump(both ? Step::Kind::jump_if_not_zero : Step::Kind::jump_if_zero);
      into.steps.push_back({.value = both ? 0 : 1});
      const std::size_t to_end = jump(Step::Kind::jump);
      land(to_second);
      compile(node.operands[1], places, depth, into);
      into.steps.push_back({.kind = Step::Kind::truth});
      return land(to_end);
    }
    case Operation::computed:
      for (std::size_t i = 0; i < node.operands.size(); ++i)
        compile(node.operands[i], places, depth + i, into);
      into.steps.push_back({.kind = Step::Kind::call,
                            .count = static_cast<std::uint32_t>(node.operands.size()),
                            .node = &node});
      into.kept.push_back(expression);
      return;
    default:
      compile(node.operands[0], places, depth, into);
      compile(node.operands[1], places, depth + 1, into);
      into.steps.push_back({.kind = Step::Kind::operate, .operation = node.operation});
  }
}

std::int64_t Formula::run(const std::int64_t* numbers) const {
  using Step = Program::Step;
  std::array<std::int64_t, deepest + 2> stack;
  std::size_t top = 0;  // the number of values on the stack
  for (std::size_t at = 0; at < program_->steps.size(); ++at) {
    const Step& step = program_->steps[at];
    switch (step.kind) {
      case Step::Kind::push:
        stack[top++] = step.value;
        break;
      case Step::Kind::load:
        stack[top++] = numbers[step.count];
        break;
      case Step::Kind::operate:
        --top;
        stack[top - 1] = apply(step.operation, stack[top - 1], stack[top]);
        break;
      case Step::Kind::call:
        top -= step.count;
        stack[top] = step.node->function(std::span(stack).subspan(top, step.count));
        ++top;
        break;
      case Step::Kind::truth:
        stack[top - 1] = stack[top - 1] != 0;
        break;
      case Step::Kind::jump:
        at = step.count - 1;
        break;
      case Step::Kind::jump_if_zero:
        if (stack[--top] == 0) at = step.count - 1;
        break;
      case Step::Kind::jump_if_not_zero:
        if (stack[--top] != 0) at = step.count - 1;
        break;
    }
  }
  return stack[0];
}

void Conditions::add(const Expression& expression, const Places& places) {
  const ExpressionNode& node = *expression.node();
  if (node.operation == Operation::both) {
    add(node.operands[0], places);
    return add(node.operands[1], places);
  }
  std::optional<AffineComparison> compared = AffineComparison::of(expression, true, places);
  if (!compared) return add(Condition(Formula(expression, places), Condition::Kind::not_zero));
  add(Condition(Formula(compared->sum), compared->kind));
}

std::optional<AffineComparison> AffineComparison::of(const Expression& condition, bool holds,
                                                     const Places& places) {
  const ExpressionNode& node = *condition.node();
  const Operation operation = node.operation;
  if (operation < Operation::less || operation > Operation::different) return std::nullopt;
  const bool orders = operation == Operation::less || operation == Operation::at_most;
  // The negation of a < b is b <= a, that of a <= b is b < a.
  const bool turned = orders && !holds;
  const Expression &a = node.operands[turned ? 1 : 0], &b = node.operands[turned ? 0 : 1];
  std::optional<Affine> sum = Affine::difference(b, a, places);
  if (!sum) return std::nullopt;
  if (orders && (operation == Operation::less) == holds) --sum->constant;
  const auto kind = orders                                     ? Condition::Kind::not_negative
                    : (operation == Operation::equal) == holds ? Condition::Kind::zero
                                                               : Condition::Kind::not_zero;
  return AffineComparison{*std::move(sum), kind};
}

}  // namespace fairlead::ptg
