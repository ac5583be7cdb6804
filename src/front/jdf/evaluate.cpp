// See evaluate.hpp.
#include "front/jdf/evaluate.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "front/jdf/c_expressions.hpp"
#include "front/jdf/constants.hpp"
#include "front/jdf/diagnostics.hpp"
#include "front/jdf/integer_types.hpp"
#include "front/jdf/name_resolution.hpp"

namespace fairlead::jdf {

namespace {

std::string first_line(std::string_view code) {
  const std::size_t begin = code.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  code = code.substr(begin);
  code = code.substr(0, code.find_first_of("\r\n"));
  const std::size_t last = code.find_last_not_of(" \t");
  code = code.substr(0, last + 1);
  return code.size() > 60 ? fmt::format("{}...", code.substr(0, 57)) : std::string(code);
}

constexpr int deepest_globals = 100;  // limits the recursion

bool is_real_type(std::string_view type) { return type == "double" || type == "float"; }

/// Whether the global is real because it has no type and its value is real; otherwise no type means int.
bool untyped_real(const Global& it, const Value& value) { return it.type.empty() && value.is_real(); }

}  // namespace

Evaluator::Evaluator(const JdfFile& file, const Settings& settings, const Constants* constants)
    : file_(file), settings_(settings), constants_(constants) {}

void Evaluator::fail(EvaluationError::Kind kind, SourceRange where, const std::string& message) const {
  std::string text = shown(Diagnostic{Severity::error, where, message, {}}, file_.source);
  text.pop_back();
  throw EvaluationError(kind, where, text, message);
}

Value Evaluator::value(ExpressionId id, std::span<Value> slots) {
  if (constants_ != nullptr)
    if (const Value known = constants_->of(id); known.is_known()) return known;
  const Expression& it = file_.at(id);
  switch (it.kind) {
    case Expression::Kind::integer: {
      if (it.is_unsigned)
        return Value::of_unsigned(it.integer,
                                  it.is_long ? Value::Type::unsigned_long : Value::Type::unsigned_);
      const auto integer = static_cast<std::int64_t>(it.integer);
      return it.is_long ? Value::of_long(integer) : Value::of_int(integer);
    }
    case Expression::Kind::real:
      return Value::of_double(it.real);
    case Expression::Kind::name:
      return name(it, slots);
    case Expression::Kind::unary:
      return checked(compute(it.op, value(it.parts[0], slots)), it);
    case Expression::Kind::binary:
      return binary(it, slots);
    case Expression::Kind::ternary:
      return ternary(it, slots);
    case Expression::Kind::text:
    case Expression::Kind::inline_c:
      return evaluated(it, slots);
    case Expression::Kind::call:
      return call(it, slots);
    case Expression::Kind::range:
      fail(EvaluationError::Kind::invalid_operands, it.where, "a range is not a value");
  }
  return {};
}

Value Evaluator::name(const Expression& it, std::span<Value> slots) {
  switch (it.meaning) {
    case Binding::local:
      if (slots[it.index].is_known()) return slots[it.index];
      fail(EvaluationError::Kind::needs_c, it.where,
           fmt::format("the value of {} is known only in C here", it.text));
    case Binding::global:
      return global(it.index, it.where);
    case Binding::member:
      return member(it.index, it.where);
    default:
      if (it.meaning == Binding::c)
        if (const std::optional<Value> set = settings_.c_name(it.index)) return *set;
      return by_c(it, slots, fmt::format("{0} is known only in C: give --set '{0}=...'", it.text));
  }
}

/// Evaluates what needs C; `otherwise` is the start of the error message if C is not allowed.
Value Evaluator::by_c(const Expression& it, std::span<Value> slots, const std::string& otherwise) {
  const CEvaluator* const in_c = settings_.in_c();
  if (in_c == nullptr)
    fail(EvaluationError::Kind::needs_c, it.where,
         otherwise + "; with --allow-c the C code of the file is compiled and run");
  return in_c->value(static_cast<ExpressionId>(&it - file_.expressions.data()), slots);
}

/// DPLASMA's and PaRSEC's functions for the minimum and maximum of two ints are evaluated here; other calls need C.
Value Evaluator::call(const Expression& it, std::span<Value> slots) {
  if (is_known_call(it)) {
    const std::int32_t a = integer(it.arguments[0], slots), b = integer(it.arguments[1], slots);
    return Value::of_int(it.text.ends_with("imin") ? std::min(a, b) : std::max(a, b));
  }
  return by_c(it, slots, fmt::format("{}(...) is a C function: its value is known only in C", it.text));
}

Value Evaluator::binary(const Expression& it, std::span<Value> slots) {
  const Value left = value(it.parts[0], slots);
  if (it.op == Operator::logical_and) return Value::of_int(left.truth() && truth(it.parts[1], slots) ? 1 : 0);
  if (it.op == Operator::logical_or) return Value::of_int(left.truth() || truth(it.parts[1], slots) ? 1 : 0);
  return checked(compute(it.op, left, value(it.parts[1], slots)), it);
}

Value Evaluator::evaluated(const Expression& it, std::span<Value> slots) {
  if (it.parsed_content == no_expression) {
    if (it.kind == Expression::Kind::text)
      return by_c(it, slots, fmt::format("\"{}\" is known only in C", first_line(it.text)));
    return by_c(it, slots, fmt::format("the result is known only in C: {}", first_line(it.text)));
  }
  for (const Index& variable : it.variables)
    slots[variable.slot] = Value::of_int(integer(variable.range, slots));
  return value(it.parsed_content, slots);
}

/// The result has the common type of both operands, though only one is evaluated.
Value Evaluator::ternary(const Expression& it, std::span<Value> slots) {
  const bool first = truth(it.parts[0], slots);
  const Value chosen = value(it.parts[first ? 1 : 2], slots);
  return converted(chosen, type(it.parts[first ? 2 : 1]));
}

/// The type of an expression, without evaluating it. Names are ints, unless they are known to have another type.
Value::Type Evaluator::type(ExpressionId id) const {
  if (constants_ != nullptr)
    if (const Value known = constants_->of(id); known.is_known()) return known.type();
  const Expression& it = file_.at(id);
  switch (it.kind) {
    case Expression::Kind::integer:
      if (it.is_unsigned) return it.is_long ? Value::Type::unsigned_long : Value::Type::unsigned_;
      return it.is_long ? Value::Type::long_ : Value::Type::int_;
    case Expression::Kind::real:
      return Value::Type::double_;
    case Expression::Kind::name:
      if (it.meaning == Binding::global && is_real_type(file_.globals[it.index].type))
        return Value::Type::double_;
      if (it.meaning == Binding::global && it.index < known_.size() && known_[it.index])
        return known_[it.index]->type();
      return Value::Type::int_;
    case Expression::Kind::unary:
      return it.op == Operator::logical_not ? Value::Type::int_ : type(it.parts[0]);
    case Expression::Kind::binary:
      if (it.op >= Operator::less && it.op <= Operator::not_equal) return Value::Type::int_;
      if (it.op == Operator::logical_and || it.op == Operator::logical_or) return Value::Type::int_;
      if (it.op == Operator::shift_left || it.op == Operator::shift_right) return type(it.parts[0]);
      return std::max(type(it.parts[0]), type(it.parts[1]));
    case Expression::Kind::ternary:
      return std::max(type(it.parts[1]), type(it.parts[2]));
    default:
      return it.parsed_content == no_expression ? Value::Type::int_ : type(it.parsed_content);
  }
}

Value Evaluator::checked(const ArithmeticResult& computed, const Expression& it) {
  using Kind = EvaluationError::Kind;
  switch (computed.problem) {
    case ArithmeticResult::ArithmeticError::none:
      return computed.value;
    case ArithmeticResult::ArithmeticError::division_by_zero:
      fail(Kind::division_by_zero, it.operator_range, "a division by zero");
    case ArithmeticResult::ArithmeticError::overflow:
      fail(Kind::overflow, it.operator_range, "an overflow: the result does not fit its type");
    case ArithmeticResult::ArithmeticError::shift:
      fail(Kind::invalid_shift, it.operator_range, "a shift by a negative number of bits, or by all of them");
    case ArithmeticResult::ArithmeticError::operands:
      fail(Kind::invalid_operands, it.operator_range, "this operator is for integers");
  }
  return {};
}

std::int32_t Evaluator::integer(ExpressionId id, std::span<Value> slots) {
  const Value out = value(id, slots);
  if (out.is_real()) {
    if (!(out.real() > -2147483649.0 && out.real() < 2147483648.0))
      fail(EvaluationError::Kind::overflow, file_.at(id).where,
           fmt::format("{} does not fit into an int", out.text()));
    return static_cast<std::int32_t>(out.real());
  }
  const bool too_large = out.is_unsigned() && out.bits() > INT32_MAX;
  if (too_large || out.integer() < INT32_MIN || out.integer() > INT32_MAX)
    fail(EvaluationError::Kind::overflow, file_.at(id).where,
         fmt::format("{} does not fit into an int", out.text()));
  return static_cast<std::int32_t>(out.integer());
}

Value Evaluator::global(std::uint32_t index, SourceRange asked) {
  if (known_.empty()) {
    known_.resize(file_.globals.size());
    in_progress_.resize(file_.globals.size());
    global_slots_.resize(file_.global_slots);
  }
  if (known_[index]) return *known_[index];
  const Global& it = file_.globals[index];
  std::optional<Value> found = settings_.global(index);
  if (!found) {
    if (it.value == no_expression)
      fail(EvaluationError::Kind::no_value, asked,
           fmt::format("{0} has no value: give --set {0}=...", it.name.text));
    if (in_progress_[index])
      fail(EvaluationError::Kind::no_value, asked, fmt::format("{} is defined by itself", it.name.text));
    if (globals_deep_ > deepest_globals)
      fail(EvaluationError::Kind::no_value, asked,
           fmt::format("{} is defined by more than {} globals in a row", it.name.text, deepest_globals));
    in_progress_[index] = true;
    ++globals_deep_;
    const auto finish = [&] {
      --globals_deep_;
      in_progress_[index] = false;
    };
    try {
      found = value(it.value, global_slots_);
    } catch (...) {
      finish();
      throw;
    }
    finish();
  }
  if (is_real_type(it.type))
    found = Value::of_double(found->real());
  else if (const std::optional<IntegerType> type = integer_type(it.type); type && !untyped_real(it, *found))
    found = converted_to_type(*found, *type, it);
  known_[index] = found;
  return *found;
}

/// The value as stored in a global of an integer type. Unsigned types of at least 32 bits wrap, as in C; other types
/// must hold the value.
Value Evaluator::converted_to_type(Value value, const IntegerType& type, const Global& of) const {
  if (!type.is_signed && !value.is_real() && type.bits >= 32)
    return Value::of_unsigned(value.bits(), type.type);
  if (const std::optional<Value> as = as_integer(value, type)) return *as;
  fail(EvaluationError::Kind::overflow, of.value == no_expression ? of.name.where : file_.at(of.value).where,
       fmt::format("{} does not fit {}, which is of the type {}: {}", value.text(), of.name.text,
                   of.type.empty() ? "int" : of.type, type.range()));
}

Value Evaluator::member(std::uint32_t index, SourceRange asked) {
  if (const std::optional<Value> set = settings_.member(index)) return *set;
  const Member& it = file_.members[index];
  const std::string& base = file_.globals[it.global].name.text;
  if (const std::optional<MatrixShape>& matrix = settings_.matrix(aligned_with(file_, it.global))) {
    if (const std::optional<std::int64_t> value = matrix->member(it.last)) {
      if (*value > INT32_MAX)
        fail(EvaluationError::Kind::overflow, asked,
             fmt::format("{} is {} for this --matrix {}, and does not fit an int", it.text, *value, base));
      return Value::of_int(*value);
    }
    fail(EvaluationError::Kind::no_value, asked,
         fmt::format("--matrix {} does not define {}: give --set '{}=...'", base, it.text, it.text));
  }
  if (is_matrix_member(it.last))
    fail(EvaluationError::Kind::no_value, asked,
         fmt::format("{0} has no value: give --matrix {1}=M,N,MB,NB or --set '{0}=...'", it.text, base));
  fail(EvaluationError::Kind::no_value, asked,
       fmt::format("{0} has no value: give --set '{0}=...'", it.text));
}

}  // namespace fairlead::jdf
