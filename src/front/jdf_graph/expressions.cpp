// Translation of JDF expressions, and the functions that replace those that cannot be translated.
#include "front/jdf_graph/expressions.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <string>

#include "front/jdf/c_expressions.hpp"
#include "front/ptg/expression_node.hpp"

namespace fairlead::jdf {

namespace {

// Larger or deeper expressions become functions: the evaluator is faster on them, and substitution would
// enlarge them.

constexpr std::size_t max_operations = 120;

std::size_t depth_of(const ptg::Expression& expression) {
  std::size_t below = 0;
  for (const ptg::Expression& operand : expression.node()->operands)
    below = std::max(below, depth_of(operand));
  return below + 1;
}
constexpr std::size_t max_depth = 30;

bool reads_slots_of_task(const JdfFile& file, ExpressionId id, const std::vector<bool>& declared) {
  std::vector<bool> slots;
  mark_slots(file, id, slots);
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i] && !(i < declared.size() && declared[i])) return true;
  return false;
}

/// Marks the slots of variables that the expression itself declares.
void mark_declared(const JdfFile& file, ExpressionId id, std::vector<bool>& declared) {
  if (id == no_expression) return;
  const Expression& it = file.at(id);
  for (const Index& variable : it.variables) {
    if (variable.slot >= declared.size()) declared.resize(variable.slot + 1);
    declared[variable.slot] = true;
    mark_declared(file, variable.range, declared);
  }
  for (const ExpressionId part : it.parts) mark_declared(file, part, declared);
  for (const ExpressionId part : it.arguments) mark_declared(file, part, declared);
  mark_declared(file, it.parsed_content, declared);
}

std::uint32_t highest_slot(const JdfFile& file, ExpressionId id) {
  std::vector<bool> slots;
  mark_slots(file, id, slots);
  mark_declared(file, id, slots);
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
  std::vector<bool> declared;
  mark_declared(program_->file, id, declared);
  if (reads_slots_of_task(program_->file, id, declared)) return std::nullopt;
  std::vector<Value> slots(highest_slot(program_->file, id));
  try {
    return evaluator_.value(id, slots);
  } catch (const EvaluationError& error) {
    using Kind = EvaluationError::Kind;
    if (error.kind() == Kind::needs_c || error.kind() == Kind::no_value) throw;
    return std::nullopt;  // reported only if the expression is evaluated
  }
}

ptg::Expression Expressions::of(ExpressionId id, const Environment& slots) {
  const std::optional<ptg::Expression> found = translate(id, slots);
  if (found && size_of(*found, max_operations) < max_operations && depth_of(*found) < max_depth)
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
  // Reverses a descending range, so that its values ascend.
  const auto downwards = [&](const ptg::Expression& by) {
    return choose(first < last, first + 1, first - (first - last) / by * by);
  };
  if (const std::optional<Value> known = constant(it.parts[2])) {
    const std::int64_t by = known->is_real() ? static_cast<std::int64_t>(known->real()) : known->integer();
    if (by == 0)
      throw UsageError(program_->file.source.where(it.where) + ": the step of a range must not be 0");
    if (by > 0) return {first, last, by};
    if (by == -1) return {last, first};
    return {downwards(-by), first, -by};
  }
  return {choose(step < 0, downwards(-step), first), choose(step < 0, first, last),
          choose(step < 0, -step, step)};
}

std::optional<ptg::Expression> Expressions::translate(ExpressionId id, const Environment& slots) {
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
        return translate(it.parts[which->truth() ? 1 : 2], slots);
      const auto condition = translate(it.parts[0], slots), a = translate(it.parts[1], slots),
                 b = translate(it.parts[2], slots);
      if (!condition || !a || !b) return std::nullopt;
      return choose(*condition, *a, *b);
    }
    case Expression::Kind::call: {
      if (it.arguments.size() != 2) return std::nullopt;
      const auto a = translate(it.arguments[0], slots), b = translate(it.arguments[1], slots);
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
        const auto value = translate(variable.range, inside);
        if (!value) return std::nullopt;
        inside[variable.slot] = value;
      }
      return translate(it.parsed_content, inside);
    }
    default:
      return std::nullopt;
  }
}

std::optional<ptg::Expression> Expressions::operation(const Expression& it, const Environment& slots) {
  if (it.kind == Expression::Kind::unary) {
    const auto a = translate(it.parts[0], slots);
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
      const auto second = translate(it.parts[1], slots);
      if (!second) return std::nullopt;
      return *second != 0;
    }
  const auto left = translate(it.parts[0], slots), right = translate(it.parts[1], slots);
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

/// A function that evaluates the expression for each task. Missing C code is reported now, not at evaluation.
ptg::Expression Expressions::function(ExpressionId id, const Environment& slots) {
  check_evaluable(id, slots);
  const JdfFile& file = program_->file;
  std::vector<bool> declared, all;
  mark_declared(file, id, declared);
  mark_slots(file, id, all);
  std::vector<std::uint32_t> used;
  std::vector<ptg::Expression> arguments;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!all[i] || (i < declared.size() && declared[i])) continue;
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

void Expressions::check_evaluable(ExpressionId id, const Environment& slots) {
  if (id == no_expression) return;
  const Expression& it = program_->file.at(id);
  std::vector<bool> declared;
  mark_declared(program_->file, id, declared);
  const bool local = it.kind == Expression::Kind::name && it.meaning == Binding::local;
  const bool unknown = local && (it.index >= slots.size() || !slots[it.index]);
  const bool needs_c = (it.kind == Expression::Kind::name && !local) ||
                       ((it.kind == Expression::Kind::inline_c || it.kind == Expression::Kind::text) &&
                        it.parsed_content == no_expression);
  const CEvaluator* const in_c = program_->settings.in_c();
  const bool is_c_name = it.kind == Expression::Kind::name && it.meaning == Binding::c;
  const bool leaf = it.kind == Expression::Kind::call   ? !is_known_call(it)
                    : it.kind == Expression::Kind::name ? is_c_name && !program_->settings.c_name(it.index)
                                                        : needs_c;
  if (in_c != nullptr && leaf) {
    for (const std::uint32_t slot : it.c_slots)
      if (slot >= slots.size() || !slots[slot])
        throw UsageError(program_->file.source.where(it.where) +
                         ": this uses a variable that has no value here");
    return in_c->require(id);
  }
  if (unknown || needs_c) {  // the evaluator throws the error
    std::vector<Value> values(std::max<std::size_t>(highest_slot(program_->file, id), 1), Value::unknown());
    evaluator_.value(id, values);
  }
  if (it.kind == Expression::Kind::call && !is_known_call(it)) {
    std::vector<Value> values(std::max<std::size_t>(highest_slot(program_->file, id), 1));
    evaluator_.value(id, values);
  }
  for (const ExpressionId part : it.parts) check_evaluable(part, slots);
  for (const ExpressionId part : it.arguments) check_evaluable(part, slots);
  if (it.parsed_content == no_expression) return;
  Environment inside = slots;
  for (const Index& variable : it.variables) {
    check_evaluable(variable.range, inside);
    if (variable.slot >= inside.size()) inside.resize(variable.slot + 1);
    inside[variable.slot] = ptg::Expression(0);
  }
  check_evaluable(it.parsed_content, inside);
}

}  // namespace fairlead::jdf
