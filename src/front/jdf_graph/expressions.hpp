// Translates the expressions of a JDF file to those of a parameterized graph. The values of globals are
// known, so most become sums and comparisons that can be inverted and evaluated fast. The evaluator computes
// the others for each task.
#pragma once
#include <fairlead/ptg/expression.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "front/jdf_graph/runnable_jdf.hpp"

namespace fairlead::jdf {

/// The values of a class's slots at one point; nothing for a slot that needs C or is not in scope.
using Environment = std::vector<std::optional<ptg::Expression>>;

class Expressions {
 public:
  explicit Expressions(std::shared_ptr<const RunnableJdf> program)
      : program_(std::move(program)), evaluator_(program_->file, program_->settings) {}

  /// Throws EvaluationError if the expression has no value.
  ptg::Expression of(ExpressionId id, const Environment& slots);
  /// The value, if it is the same for all tasks.
  std::optional<Value> constant(ExpressionId id);
  /// Whether the expression contains a function, so that no bounds are known.
  static bool is_opaque(const ptg::Expression& expression);

  /// The bounds of a range, or of a single value.
  struct Bounds {
    ptg::Expression first, last, step = 1;
    bool single = false;
  };
  Bounds bounds(ExpressionId id, const Environment& slots);

 private:
  std::optional<ptg::Expression> translate(ExpressionId id, const Environment& slots);
  std::optional<ptg::Expression> operation(const Expression& it, const Environment& slots);
  ptg::Expression function(ExpressionId id, const Environment& slots);
  void check_evaluable(ExpressionId id, const Environment& slots);

  std::shared_ptr<const RunnableJdf> program_;
  Evaluator evaluator_;
};

/// The number of operations in an expression, at most `most`.
std::size_t size_of(const ptg::Expression& expression, std::size_t most);

}  // namespace fairlead::jdf
