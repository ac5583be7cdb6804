// What an expression over indices consists of.
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
  index,     // known by its node, not by its name
  computed,  // a function of `operands`
  choose,    // the others have two operands
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

struct ExpressionNode {
  Operation operation = Operation::constant;
  std::int64_t value = 0;  ///< of a constant
  std::string name;        ///< of an index or a function
  std::vector<Expression> operands{};
  std::function<std::int64_t(std::span<const std::int64_t>)> function{};
};

/// Of two numbers. Throws UsageError for a division by 0. `choose` and `computed` are none of these.
std::int64_t apply(Operation operation, std::int64_t a, std::int64_t b);

}  // namespace fairlead::ptg
