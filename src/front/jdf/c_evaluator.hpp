// Interface to the compiled C code of a file, which evaluates expressions that need C.
#pragma once
#include <span>

#include "front/jdf/ast.hpp"
#include "front/jdf/value.hpp"

namespace fairlead::jdf {

class CEvaluator {
 public:
  virtual ~CEvaluator() = default;
  /// Throws EvaluationError if the expression cannot be evaluated: it needs a global without a value.
  virtual void require(ExpressionId id) const = 0;
  /// The value of one of File::c_leaves for the slots of a task. Thread-safe. Throws as require().
  virtual Value value(ExpressionId id, std::span<const Value> slots) const = 0;

 protected:
  CEvaluator() = default;
  CEvaluator(const CEvaluator&) = default;
  CEvaluator& operator=(const CEvaluator&) = default;
};

}  // namespace fairlead::jdf
