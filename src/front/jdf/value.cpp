// C's arithmetic. What C leaves undefined is reported as a problem: overflow of signed numbers, division by zero, and
// shifts outside of the width.
#include "front/jdf/value.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "front/jdf/ast.hpp"

namespace fairlead::jdf {

namespace {

using Type = Value::Type;
using Problem = ArithmeticResult::ArithmeticError;

Value as(Value value, Type type) {
  switch (type) {
    case Type::double_:
      return Value::of_double(value.real());
    case Type::unsigned_:
    case Type::unsigned_long:
      return Value::of_unsigned(value.bits(), type);
    default:
      return Value::of_long(value.integer(), type);
  }
}

ArithmeticResult checked(std::int64_t value, bool overflowed, Type type) {
  if (overflowed || (type == Type::int_ && (value < INT32_MIN || value > INT32_MAX)))
    return {Problem::overflow, {}};
  return {Problem::none, Value::of_long(value, type)};
}

ArithmeticResult truth(bool value) { return {Problem::none, Value::of_int(value ? 1 : 0)}; }

template <class T>
ArithmeticResult compared(Operator op, T a, T b) {
  switch (op) {
    case Operator::less:
      return truth(a < b);
    case Operator::less_equal:
      return truth(a <= b);
    case Operator::greater:
      return truth(a > b);
    case Operator::greater_equal:
      return truth(a >= b);
    case Operator::equal:
      return truth(a == b);
    default:
      return truth(a != b);
  }
}

ArithmeticResult compute_real(Operator op, double a, double b) {
  switch (op) {
    case Operator::add:
      return {Problem::none, Value::of_double(a + b)};
    case Operator::subtract:
      return {Problem::none, Value::of_double(a - b)};
    case Operator::multiply:
      return {Problem::none, Value::of_double(a * b)};
    case Operator::divide:
      return {Problem::none, Value::of_double(a / b)};
    default:
      return {Problem::operands, {}};
  }
}

ArithmeticResult compute_unsigned(Operator op, std::uint64_t a, std::uint64_t b, Type type) {
  const auto made = [&](std::uint64_t value) {
    return ArithmeticResult{Problem::none, Value::of_unsigned(value, type)};
  };
  switch (op) {
    case Operator::add:
      return made(a + b);
    case Operator::subtract:
      return made(a - b);
    case Operator::multiply:
      return made(a * b);
    case Operator::divide:
      return b == 0 ? ArithmeticResult{Problem::division_by_zero, {}} : made(a / b);
    case Operator::modulo:
      return b == 0 ? ArithmeticResult{Problem::division_by_zero, {}} : made(a % b);
    case Operator::bit_and:
      return made(a & b);
    case Operator::bit_or:
      return made(a | b);
    default:
      return made(a ^ b);
  }
}

ArithmeticResult compute_signed(Operator op, std::int64_t a, std::int64_t b, Type type) {
  std::int64_t out = 0;
  switch (op) {
    case Operator::add: {
      const bool over = __builtin_add_overflow(a, b, &out);
      return checked(out, over, type);
    }
    case Operator::subtract: {
      const bool over = __builtin_sub_overflow(a, b, &out);
      return checked(out, over, type);
    }
    case Operator::multiply: {
      const bool over = __builtin_mul_overflow(a, b, &out);
      return checked(out, over, type);
    }
    case Operator::divide:
    case Operator::modulo: {
      if (b == 0) return {Problem::division_by_zero, {}};
      // Both operators are undefined for the smallest number and -1.
      if (b == -1 && a == (type == Type::int_ ? INT32_MIN : INT64_MIN)) return {Problem::overflow, {}};
      return checked(op == Operator::divide ? a / b : a % b, false, type);
    }
    case Operator::bit_and:
      return checked(a & b, false, type);
    case Operator::bit_or:
      return checked(a | b, false, type);
    default:
      return checked(a ^ b, false, type);
  }
}

ArithmeticResult shifted(Operator op, Value left, Value right) {
  if (left.is_real() || right.is_real()) return {Problem::operands, {}};
  const unsigned width = left.is_64_bit() ? 64 : 32;
  if ((!right.is_unsigned() && right.integer() < 0) || right.bits() >= width) return {Problem::shift, {}};
  const auto by = static_cast<unsigned>(right.bits());
  if (left.is_unsigned())
    return {
        Problem::none,
        Value::of_unsigned(op == Operator::shift_left ? left.bits() << by : left.bits() >> by, left.type())};
  if (op == Operator::shift_right) return {Problem::none, Value::of_long(left.integer() >> by, left.type())};
  if (left.integer() < 0) return {Problem::overflow, {}};
  const std::uint64_t most = left.is_64_bit() ? INT64_MAX : INT32_MAX;
  if (left.bits() > most >> by) return {Problem::overflow, {}};
  return {Problem::none, Value::of_long(left.integer() << by, left.type())};
}

}  // namespace

std::string Value::text() const {
  if (is_real()) return fmt::format("{}", real());
  return is_unsigned() ? fmt::format("{}", bits_) : fmt::format("{}", integer());
}

ArithmeticResult compute(Operator op, Value left, Value right) {
  if (op == Operator::shift_left || op == Operator::shift_right) return shifted(op, left, right);
  const Type type = std::max(left.type(), right.type());
  const Value a = as(left, type), b = as(right, type);
  if (op >= Operator::less && op <= Operator::not_equal) {
    if (type == Type::double_) return compared(op, a.real(), b.real());
    if (a.is_unsigned()) return compared(op, a.bits(), b.bits());
    return compared(op, a.integer(), b.integer());
  }
  if (type == Type::double_) return compute_real(op, a.real(), b.real());
  if (a.is_unsigned()) return compute_unsigned(op, a.bits(), b.bits(), type);
  return compute_signed(op, a.integer(), b.integer(), type);
}

ArithmeticResult compute(Operator op, Value operand) {
  switch (op) {
    case Operator::logical_not:
      return truth(!operand.truth());
    case Operator::plus:
      return {Problem::none, operand};
    case Operator::bit_not:
      if (operand.is_real()) return {Problem::operands, {}};
      if (operand.is_unsigned()) return {Problem::none, Value::of_unsigned(~operand.bits(), operand.type())};
      return {Problem::none, Value::of_long(~operand.integer(), operand.type())};
    default:
      if (operand.is_real()) return {Problem::none, Value::of_double(-operand.real())};
      return compute(Operator::subtract, Value::of_int(0), operand);
  }
}

Value converted(Value chosen, Value::Type other) { return as(chosen, std::max(chosen.type(), other)); }

}  // namespace fairlead::jdf
