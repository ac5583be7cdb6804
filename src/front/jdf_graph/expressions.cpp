// See expressions.hpp.
#include "front/jdf_graph/expressions.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <string>

#include "front/jdf/c_expressions.hpp"
#include "front/ptg/expression_node.hpp"

namespace fairlead::jdf {

namespace {

/// Larger expressions are evaluated faster by the evaluator, and would grow when substituted.
constexpr std::size_t most_operations = 120;

std::size_t depth_of(const ptg::Expression& expression) {
  std::size_t below = 0;
  for (const ptg::Expression& operand : expression.node()->operands)
    below = std::max(below, depth_of(operand));
  return below + 1;
}
constexpr std::size_t deepest = 30;

bool speaks_of_slots(const JdfFile& file, ExpressionId id, const std::vector<bool>& own) {
  std::vector<bool> slots;
  mark_slots(file, id, slots);
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i] && !(i < own.size() && own[i])) return true;
  return false;
}

/// Marks the slots of variables that inline C declares.
void mark_own(const JdfFile& file, ExpressionId id, std::vector<bool>& own) {
  if (id == no_expression) return;
  const Expression& it = file.at(id);
  for (const Index& variable : it.variables) {
    if (variable.slot >= own.size()) own.resize(variable.slot + 1);
    own[variable.slot] = true;
    mark_own(file, variable.range, own);
  }
  for (const ExpressionId part : it.parts) mark_own(file, part, own);
  for (const ExpressionId part : it.arguments) mark_own(file, part, own);
  mark_own(file, it.parsed_content, own);
}

std::uint32_t highest_slot(const JdfFile& file, ExpressionId id) {
  std::vector<bool> slots;
  mark_slots(file, id, slots);
  mark_own(file, id, slots);
  return static_cast<std::uint32_t>(slots.size());
}

}  // namespace

std::size_t size_of(const ptg::Expression& expression, std::size_t most) {
  std::size_t size = 1;
  for (const ptg::Expression& operand : expression.node()->operands) {
    if (size >= most) return most;
    size += size_of(operand, most - size);
  }
  return size;
}

bool Expressions::is_opaque(const ptg::Expression& expression) {
  const ptg::ExpressionNode& node = *expression.node();
  return node.operation == ptg::Operation::computed || std::ranges::any_of(node.operands, is_opaque);
}

std::optional<Value> Expressions::constant(ExpressionId id) {
  std::vector<bool> own;
  mark_own(program_->file, id, own);
  if (speaks_of_slots(program_->file, id, own)) return std::nullopt;
  std::vector<Value> slots(highest_slot(program_->file, id));
  try {
    return evaluator_.value(id, slots);
  } catch (const EvaluationError& error) {
    using Kind = EvaluationError::Kind;
    if (error.kind() == Kind::needs_c || error.kind() == Kind::no_value) throw;
    return std::nullopt;  // not an error: it may never be evaluated
  }
}

ptg::Expression Expressions::of(ExpressionId id, const Environment& slots) {
  const std::optional<ptg::Expression> found = plain(id, slots);
  if (found && size_of(*found, most_operations) < most_operations && depth_of(*found) < deepest)
    return *found;
  return function(id, slots);
}

Expressions::Bounds Expressions::bounds(ExpressionId id, const Environment& slots) {
  const Expression& it = program_->file.at(id);
  if (it.kind != Expression::Kind::range) {
    const ptg::Expression value = of(id, slots);
    return {value, value, 1, true};
  }
  const ptg::Expression first = of(it.parts[0], slots), last = of(it.parts[1], slots);
  if (it.parts[2] == no_expression) return {first, last};
  const ptg::Expression step = of(it.parts[2], slots);
  // A descending range: the same values in ascending order.
  const auto downwards = [&](const ptg::Expression& by) {
    return choose(first < last, first + 1, first - (first - last) / by * by);
  };
  if (const std::optional<Value> known = constant(it.parts[2])) {
    const std::int64_t by = known->is_real() ? static_cast<std::int64_t>(known->real()) : known->integer();
    if (by == 0) throw UsageError(program_->file.source.where(it.where) + ": a step of 0 never ends");
    if (by > 0) return {first, last, by};
    if (by == -1) return {last, first};
    return {downwards(-by), first, -by};
  }
  return {choose(step < 0, downwards(-step), first), choose(step < 0, first, last),
          choose(step < 0, -step, step)};
}

std::optional<ptg::Expression> Expressions::plain(ExpressionId id, const Environment& slots) {
  const Expression& it = program_->file.at(id);
  if (const std::optional<Value> value = constant(id)) {
    if (value->is_real() || value->is_unsigned()) return std::nullopt;
    return ptg::Expression(value->integer());
  }
  switch (it.kind) {
    case Expression::Kind::name:
      if (it.meaning != Binding::local || it.index >= slots.size()) return std::nullopt;
      return slots[it.index];
    case Expression::Kind::unary:
    case Expression::Kind::binary:
      return operation(it, slots);
    case Expression::Kind::ternary: {
      if (const std::optional<Value> which = constant(it.parts[0]))
        return plain(it.parts[which->truth() ? 1 : 2], slots);
      const auto condition = plain(it.parts[0], slots), a = plain(it.parts[1], slots),
                 b = plain(it.parts[2], slots);
      if (!condition || !a || !b) return std::nullopt;
      return choose(*condition, *a, *b);
    }
    case Expression::Kind::call: {
      if (it.arguments.size() != 2) return std::nullopt;
      const auto a = plain(it.arguments[0], slots), b = plain(it.arguments[1], slots);
      if (!a || !b) return std::nullopt;
      if (it.text == "dplasma_imin" || it.text == "parsec_imin") return min(*a, *b);
      if (it.text == "dplasma_imax" || it.text == "parsec_imax") return max(*a, *b);
      return std::nullopt;
    }
    case Expression::Kind::inline_c:
    case Expression::Kind::text: {
      if (it.parsed_content == no_expression) return std::nullopt;
      Environment inside = slots;
      for (const Index& variable : it.variables) {
        if (variable.slot >= inside.size()) inside.resize(variable.slot + 1);
        const auto value = plain(variable.range, inside);
        if (!value) return std::nullopt;
        inside[variable.slot] = value;
      }
      return plain(it.parsed_content, inside);
    }
    default:
      return std::nullopt;
  }
}

std::optional<ptg::Expression> Expressions::operation(const Expression& it, const Environment& slots) {
  if (it.kind == Expression::Kind::unary) {
    const auto a = plain(it.parts[0], slots);
    if (!a) return std::nullopt;
    switch (it.op) {
      case Operator::negate:
        return -*a;
      case Operator::plus:
        return *a;
      case Operator::logical_not:
        return !*a;
      case Operator::bit_not:
        return -1 - *a;
      default:
        return std::nullopt;
    }
  }
  const bool logical = it.op == Operator::logical_and || it.op == Operator::logical_or;
  if (logical)
    if (const std::optional<Value> first = constant(it.parts[0])) {
      if (first->truth() == (it.op == Operator::logical_or)) return ptg::Expression(first->truth() ? 1 : 0);
      const auto second = plain(it.parts[1], slots);
      if (!second) return std::nullopt;
      return *second != 0;
    }
  const auto left = plain(it.parts[0], slots), right = plain(it.parts[1], slots);
  if (!left || !right) return std::nullopt;
  const ptg::Expression &a = *left, &b = *right;
  switch (it.op) {
    case Operator::add:
      return a + b;
    case Operator::subtract:
      return a - b;
    case Operator::multiply:
      return a * b;
    case Operator::divide:
      return a / b;
    case Operator::modulo:
      return a % b;
    case Operator::shift_left:
      return a << b;
    case Operator::shift_right:
      return a >> b;
    case Operator::less:
      return a < b;
    case Operator::less_equal:
      return a <= b;
    case Operator::greater:
      return a > b;
    case Operator::greater_equal:
      return a >= b;
    case Operator::equal:
      return a == b;
    case Operator::not_equal:
      return a != b;
    case Operator::bit_and:
      return a & b;
    case Operator::bit_or:
      return a | b;
    case Operator::bit_xor:
      return a ^ b;
    case Operator::logical_and:
      return a && b;
    case Operator::logical_or:
      return a || b;
    default:
      return std::nullopt;
  }
}

/// A function that evaluates the expression for each task. Reports missing C code now instead of then.
ptg::Expression Expressions::function(ExpressionId id, const Environment& slots) {
  require_known(id, slots);
  const JdfFile& file = program_->file;
  std::vector<bool> own, all;
  mark_own(file, id, own);
  mark_slots(file, id, all);
  std::vector<std::uint32_t> used;
  std::vector<ptg::Expression> arguments;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!all[i] || (i < own.size() && own[i])) continue;
    used.push_back(i);
    arguments.push_back(*slots[i]);
  }
  return ptg::computed(
      std::string(file.source.text(file.at(id).where)),
      [program = program_, id, used, count = highest_slot(file, id)](std::span<const std::int64_t> given) {
        std::vector<Value> values(count);
        for (std::size_t i = 0; i < used.size(); ++i) values[used[i]] = Value::of(given[i]);
        try {
          return static_cast<std::int64_t>(Evaluator(program->file, program->settings).integer(id, values));
        } catch (const EvaluationError& error) {
          throw UsageError(error.what());
        }
      },
      std::move(arguments));
}

void Expressions::require_known(ExpressionId id, const Environment& slots) {
  if (id == no_expression) return;
  const Expression& it = program_->file.at(id);
  std::vector<bool> own;
  mark_own(program_->file, id, own);
  const bool local = it.kind == Expression::Kind::name && it.meaning == Binding::local;
  const bool unknown = local && (it.index >= slots.size() || !slots[it.index]);
  const bool of_c = (it.kind == Expression::Kind::name && !local) ||
                    ((it.kind == Expression::Kind::inline_c || it.kind == Expression::Kind::text) &&
                     it.parsed_content == no_expression);
  const CEvaluator* const in_c = program_->settings.in_c();
  const bool name_of_c = it.kind == Expression::Kind::name && it.meaning == Binding::c;
  const bool leaf = it.kind == Expression::Kind::call   ? !is_known_call(it)
                    : it.kind == Expression::Kind::name ? name_of_c && !program_->settings.c_name(it.index)
                                                        : of_c;
  if (in_c != nullptr && leaf) {
    for (const std::uint32_t slot : it.c_slots)
      if (slot >= slots.size() || !slots[slot])
        throw UsageError(program_->file.source.where(it.where) + ": what this mentions has no value here");
    return in_c->require(id);
  }
  if (unknown || of_c) {  // the evaluator throws the error
    std::vector<Value> values(std::max<std::size_t>(highest_slot(program_->file, id), 1), Value::unknown());
    evaluator_.value(id, values);
  }
  if (it.kind == Expression::Kind::call && !is_known_call(it)) {
    std::vector<Value> values(std::max<std::size_t>(highest_slot(program_->file, id), 1));
    evaluator_.value(id, values);
  }
  for (const ExpressionId part : it.parts) require_known(part, slots);
  for (const ExpressionId part : it.arguments) require_known(part, slots);
  if (it.parsed_content == no_expression) return;
  Environment inside = slots;
  for (const Index& variable : it.variables) {
    require_known(variable.range, inside);
    if (variable.slot >= inside.size()) inside.resize(variable.slot + 1);
    inside[variable.slot] = ptg::Expression(0);
  }
  require_known(it.parsed_content, inside);
}

}  // namespace fairlead::jdf
