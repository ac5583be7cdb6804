// Integer expressions over the indices of a parameterized task graph: k + 1, nt - k, m > n && k == 0. They are stored
// as expression trees, not as functions, so that they can be inverted: the destination of a value follows from the
// inputs that name its source.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fairlead::ptg {

struct ExpressionNode;

/// An integer expression with the semantics of 64-bit arithmetic in C. Division by 0 throws UsageError at evaluation.
/// Comparisons and logical operators yield 0 or 1; && and || evaluate the second operand only if the first does not
/// determine the result.
class Expression {
 public:
  Expression() : Expression(0) {}
  template <std::integral I>
  Expression(I value) : Expression(of(static_cast<std::int64_t>(value))) {}
  explicit Expression(std::shared_ptr<const ExpressionNode> node) noexcept : node_(std::move(node)) {}

  const std::shared_ptr<const ExpressionNode>& node() const noexcept { return node_; }

  friend Expression operator+(const Expression& a, const Expression& b) { return binary('+', a, b); }
  friend Expression operator-(const Expression& a, const Expression& b) { return binary('-', a, b); }
  friend Expression operator*(const Expression& a, const Expression& b) { return binary('*', a, b); }
  friend Expression operator/(const Expression& a, const Expression& b) { return binary('/', a, b); }
  friend Expression operator%(const Expression& a, const Expression& b) { return binary('%', a, b); }
  friend Expression operator<(const Expression& a, const Expression& b) { return binary('<', a, b); }
  friend Expression operator>(const Expression& a, const Expression& b) { return binary('<', b, a); }
  friend Expression operator<=(const Expression& a, const Expression& b) { return binary('l', a, b); }
  friend Expression operator>=(const Expression& a, const Expression& b) { return binary('l', b, a); }
  friend Expression operator==(const Expression& a, const Expression& b) { return binary('=', a, b); }
  friend Expression operator!=(const Expression& a, const Expression& b) { return binary('!', a, b); }
  friend Expression operator&&(const Expression& a, const Expression& b) { return binary('&', a, b); }
  friend Expression operator||(const Expression& a, const Expression& b) { return binary('|', a, b); }
  friend Expression operator-(const Expression& a) { return binary('-', Expression(0), a); }
  friend Expression operator!(const Expression& a) { return binary('=', a, Expression(0)); }
  /// Bitwise operators, as in C.
  friend Expression operator&(const Expression& a, const Expression& b) { return binary('a', a, b); }
  friend Expression operator|(const Expression& a, const Expression& b) { return binary('o', a, b); }
  friend Expression operator^(const Expression& a, const Expression& b) { return binary('x', a, b); }
  friend Expression operator<<(const Expression& a, const Expression& b) { return binary('L', a, b); }
  friend Expression operator>>(const Expression& a, const Expression& b) { return binary('R', a, b); }
  friend Expression min(const Expression& a, const Expression& b) { return binary('m', a, b); }
  friend Expression max(const Expression& a, const Expression& b) { return binary('M', a, b); }

  /// For messages: "k + 1".
  std::string text() const;

 private:
  static Expression of(std::int64_t value);
  static Expression binary(char operation, const Expression& a, const Expression& b);
  std::shared_ptr<const ExpressionNode> node_;
};

/// `condition` ? a : b; evaluates only the selected operand.
Expression choose(const Expression& condition, const Expression& a, const Expression& b);

/// An arbitrary function of integers. It must be deterministic and thread-safe. It cannot be inverted: state the
/// outputs that depend on it with FlowSpecification::to().
Expression computed(std::string name, std::function<std::int64_t(std::span<const std::int64_t>)> function,
                    std::vector<Expression> arguments);

class Index;

/// The values of an index of a task, or of the tasks that a value goes to: `first` to `last` inclusive, with a positive
/// step; empty if `last` < `first`. Or a single value that other indices determine.
struct Range;

/// A named index. Two objects with the same name are different indices.
class Index : public Expression {
 public:
  explicit Index(std::string name);
  Range in(Expression first, Expression last, Expression step = 1) const;
  /// Not a parameter of the task, but a value derived from the indices before it.
  Range is(Expression value) const;
};

struct Range {
  Index index;
  Expression first, last, step = 1;
  bool derived = false;  ///< the value is `first`
};

}  // namespace fairlead::ptg
