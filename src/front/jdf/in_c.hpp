// Who says what only C can say: code that a compiler has made of a file's C, where that is allowed.
#pragma once
#include <span>

#include "front/jdf/tree.hpp"
#include "front/jdf/value.hpp"

namespace fairlead::jdf {

class InC {
 public:
  virtual ~InC() = default;
  /// Throws EvaluationError if it cannot be said: it needs a global that nobody has set.
  virtual void require(ExpressionId id) const = 0;
  /// Of one of File::c_leaves. `slots`: those of a task. Any thread. Throws as require().
  virtual Value value(ExpressionId id, std::span<const Value> slots) const = 0;

 protected:
  InC() = default;
  InC(const InC&) = default;
  InC& operator=(const InC&) = default;
};

}  // namespace fairlead::jdf
