// Whole numbers over the indices of a parameterized task graph: k + 1, nt - k, m > n && k == 0. They are kept
// as expressions, not as functions, so that they can be turned round: from where a value comes follows where
// it goes.
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

/// A number. Arithmetic is C's for 64 bits; a division by 0 throws UsageError when it is evaluated.
/// Comparisons and the logical operators give 0 or 1; the second operand of && and || is looked at only if the
/// first has not decided.
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
  /// Its bits: as in C.
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

/// `condition` ? a : b; only one of the two is looked at.
Expression choose(const Expression& condition, const Expression& a, const Expression& b);

/// What no expression says: a function of numbers, which any thread may call at any time, and which always
/// gives the same for the same. It cannot be turned round: see Output.
Expression computed(std::string name, std::function<std::int64_t(std::span<const std::int64_t>)> function,
                    std::vector<Expression> arguments);

class Index;

/// An index of a task, or of the tasks that a value goes to: from `first` to `last`, both included, in steps
/// above 0; none if `last` is less. Or one value, which other indices give.
struct Range;

/// A name for a number that differs from task to task. Two with the same name are two.
class Index : public Expression {
 public:
  explicit Index(std::string name);
  Range in(Expression first, Expression last, Expression step = 1) const;
  /// It is no parameter of a task, but follows from those before it.
  Range is(Expression value) const;
};

struct Range {
  Index index;
  Expression first, last, step = 1;
  bool derived = false;  ///< it is `first`
};

}  // namespace fairlead::ptg
