// What of a file's expressions is the same for all tasks, once its globals are known: evaluated once, rather than in every
// task whose body is interpreted.
#pragma once
#include <vector>

#include "front/jdf/evaluate.hpp"

namespace fairlead::jdf {

class Constants {
 public:
  /// None yet, of that file.
  explicit Constants(const File& file) : values_(file.expressions.size(), Value::unknown()) {}

  /// Finds them in an expression and in what it consists of. What has no value, or only C can say, is none: who evaluates it
  /// hears of that.
  void find(const File& file, const Settings& settings, ExpressionId id);

  /// Unknown if it is none.
  Value of(ExpressionId id) const noexcept { return values_[id]; }

 private:
  bool is_constant(const Expression& it) const;
  bool knows(ExpressionId id) const noexcept { return values_[id].is_known(); }

  std::vector<Value> values_;  // by expression
};

}  // namespace fairlead::jdf
