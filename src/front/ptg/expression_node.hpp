// The nodes of expressions over indices.
#pragma once
#include <fairlead/ptg/expression.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fairlead::ptg {

enum class Operation : std::uint8_t {
  constant,
  index,     // identified by its node, not by its name
  computed,  // a function of `operands`
  choose,    // condition, value if true, value if false; all operations below have two operands
  add,
  subtract,
  multiply,
  divide,
  remainder,
  less,
  at_most,
  equal,
  different,
  both,
  either,
  bits_and,
  bits_or,
  bits_xor,
  shift_left,
  shift_right,
  minimum,
  maximum,
};

/// A node of an expression tree; immutable once it is shared.
struct ExpressionNode {
  Operation operation = Operation::constant;
  std::int64_t value = 0;  ///< for a constant
  std::string name;        ///< of an index or a function
  std::vector<Expression> operands{};
  std::function<std::int64_t(std::span<const std::int64_t>)> function{};
};

/// Applies a binary operation (not `choose` or `computed`). Overflow wraps around. Throws UsageError for a division
/// by 0.
std::int64_t apply(Operation operation, std::int64_t a, std::int64_t b);

}  // namespace fairlead::ptg
