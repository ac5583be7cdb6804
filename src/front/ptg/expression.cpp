// Construction, evaluation and text of expressions over indices.
#include <fairlead/error.hpp>

#include <algorithm>
#include <utility>

#include "front/ptg/expression_node.hpp"

namespace fairlead::ptg {

namespace {
Operation operation_of(char sign) {
  switch (sign) {
    case '+':
      return Operation::add;
    case '-':
      return Operation::subtract;
    case '*':
      return Operation::multiply;
    case '/':
      return Operation::divide;
    case '%':
      return Operation::remainder;
    case '<':
      return Operation::less;
    case 'l':
      return Operation::at_most;
    case '=':
      return Operation::equal;
    case '!':
      return Operation::different;
    case '&':
      return Operation::both;
    case '|':
      return Operation::either;
    case 'a':
      return Operation::bits_and;
    case 'o':
      return Operation::bits_or;
    case 'x':
      return Operation::bits_xor;
    case 'L':
      return Operation::shift_left;
    case 'R':
      return Operation::shift_right;
    case 'm':
      return Operation::minimum;
    default:
      return Operation::maximum;
  }
}

const char* sign_of(Operation operation) {
  switch (operation) {
    case Operation::add:
      return " + ";
    case Operation::subtract:
      return " - ";
    case Operation::multiply:
      return " * ";
    case Operation::divide:
      return " / ";
    case Operation::remainder:
      return " % ";
    case Operation::less:
      return " < ";
    case Operation::at_most:
      return " <= ";
    case Operation::equal:
      return " == ";
    case Operation::different:
      return " != ";
    case Operation::both:
      return " && ";
    case Operation::either:
      return " || ";
    case Operation::bits_and:
      return " & ";
    case Operation::bits_or:
      return " | ";
    case Operation::bits_xor:
      return " ^ ";
    case Operation::shift_left:
      return " << ";
    case Operation::shift_right:
      return " >> ";
    default:
      return ", ";
  }
}

/// Overflow wraps around: computed in unsigned arithmetic, since signed overflow is undefined.
std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::int64_t divided(std::int64_t a, std::int64_t b, bool remainder) {
  if (b == 0) throw UsageError("a division by 0 in an expression of a parameterized task graph");
  if (b == -1) return remainder ? 0 : wrapped(0 - bits(a));
  return remainder ? a % b : a / b;
}
}  // namespace

std::int64_t apply(Operation operation, std::int64_t a, std::int64_t b) {
  switch (operation) {
    case Operation::add:
      return wrapped(bits(a) + bits(b));
    case Operation::subtract:
      return wrapped(bits(a) - bits(b));
    case Operation::multiply:
      return wrapped(bits(a) * bits(b));
    case Operation::divide:
      return divided(a, b, false);
    case Operation::remainder:
      return divided(a, b, true);
    case Operation::less:
      return a < b;
    case Operation::at_most:
      return a <= b;
    case Operation::equal:
      return a == b;
    case Operation::different:
      return a != b;
    case Operation::both:
      return a != 0 && b != 0;
    case Operation::either:
      return a != 0 || b != 0;
    case Operation::bits_and:
      return a & b;
    case Operation::bits_or:
      return a | b;
    case Operation::bits_xor:
      return a ^ b;
    case Operation::shift_left:
      return wrapped(bits(a) << (bits(b) & 63u));
    case Operation::shift_right:
      return a >> (bits(b) & 63u);
    case Operation::minimum:
      return std::min(a, b);
    case Operation::maximum:
      return std::max(a, b);
    default:
      return 0;
  }
}

Expression Expression::of(std::int64_t value) {
  auto node = std::make_shared<ExpressionNode>();
  node->value = value;
  return Expression(std::move(node));
}

Expression Expression::binary(char operation, const Expression& a, const Expression& b) {
  auto node = std::make_shared<ExpressionNode>();
  node->operation = operation_of(operation);
  node->operands = {a, b};
  return Expression(std::move(node));
}

std::string Expression::text() const {
  const ExpressionNode& node = *node_;
  const auto operand = [&](std::size_t i) {
    const Operation inner = node.operands[i].node()->operation;
    const std::string text = node.operands[i].text();
    const bool simple = inner <= Operation::computed || inner >= Operation::minimum;
    return simple ? text : "(" + text + ")";
  };
  switch (node.operation) {
    case Operation::constant:
      return std::to_string(node.value);
    case Operation::index:
      return node.name;
    case Operation::choose:
      return operand(0) + " ? " + operand(1) + " : " + operand(2);
    case Operation::computed: {
      std::string text = node.name + "(";
      for (std::size_t i = 0; i < node.operands.size(); ++i)
        text += (i == 0 ? "" : ", ") + node.operands[i].text();
      return text + ")";
    }
    case Operation::minimum:
    case Operation::maximum:
      return std::string(node.operation == Operation::minimum ? "min(" : "max(") + node.operands[0].text() +
             ", " + node.operands[1].text() + ")";
    default:
      return operand(0) + sign_of(node.operation) + operand(1);
  }
}

Expression choose(const Expression& condition, const Expression& a, const Expression& b) {
  auto node = std::make_shared<ExpressionNode>();
  node->operation = Operation::choose;
  node->operands = {condition, a, b};
  return Expression(std::move(node));
}

Expression computed(std::string name, std::function<std::int64_t(std::span<const std::int64_t>)> function,
                    std::vector<Expression> arguments) {
  if (function == nullptr) throw UsageError("the function " + name + " of an expression is empty");
  auto node = std::make_shared<ExpressionNode>();
  node->operation = Operation::computed;
  node->name = std::move(name);
  node->operands = std::move(arguments);
  node->function = std::move(function);
  return Expression(std::move(node));
}

namespace {
std::shared_ptr<const ExpressionNode> index_node(std::string name) {
  auto node = std::make_shared<ExpressionNode>();
  node->operation = Operation::index;
  node->name = std::move(name);
  return node;
}
}  // namespace

Index::Index(std::string name) : Expression(index_node(std::move(name))) {}

Range Index::in(Expression first, Expression last, Expression step) const {
  return {*this, std::move(first), std::move(last), std::move(step), false};
}

Range Index::is(Expression value) const { return {*this, value, value, 1, true}; }

}  // namespace fairlead::ptg
