// The expressions of a file that have the same value for all tasks once the globals are known. They are evaluated once,
// instead of in every task with an interpreted body.
#pragma once
#include <vector>

#include "front/jdf/evaluate.hpp"

namespace fairlead::jdf {

class Constants {
 public:
  /// No constants yet.
  explicit Constants(const JdfFile& file) : values_(file.expressions.size(), Value::unknown()) {}

  /// Finds the constants in an expression and its operands. Expressions without a value, or that need C code, are
  /// skipped: evaluating them reports the error.
  void find(const JdfFile& file, const Settings& settings, ExpressionId id);

  /// Unknown if the expression is no constant.
  Value of(ExpressionId id) const noexcept { return values_[id]; }

 private:
  bool is_constant(const Expression& it) const;
  bool knows(ExpressionId id) const noexcept { return values_[id].is_known(); }

  std::vector<Value> values_;  // by expression
};

}  // namespace fairlead::jdf
