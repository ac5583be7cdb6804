// Expressions of a JDF file as those of a parameterized graph: what globals are is known by now, so that most become sums
// and comparisons that can be turned round and evaluated fast. What cannot be said so is computed by the evaluator.
#pragma once
#include <fairlead/ptg/expression.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "front/jdf_graph/program.hpp"

namespace fairlead::jdf {

/// What the slots of a class are, at one place; nothing: C alone knows, or it has no meaning here.
using Environment = std::vector<std::optional<ptg::Expression>>;

class Expressions {
 public:
  explicit Expressions(std::shared_ptr<const Program> program)
      : program_(std::move(program)), evaluator_(program_->file, program_->settings) {}

  /// Throws EvaluationError for what has no value here.
  ptg::Expression of(ExpressionId id, const Environment& slots);
  /// The value, if it is the same for all tasks.
  std::optional<Value> constant(ExpressionId id);
  /// Whether it became a function, of which no bounds are known.
  static bool is_opaque(const ptg::Expression& expression);

  /// A range, or one value.
  struct Bounds {
    ptg::Expression first, last, step = 1;
    bool single = false;
  };
  Bounds bounds(ExpressionId id, const Environment& slots);

 private:
  std::optional<ptg::Expression> plain(ExpressionId id, const Environment& slots);
  std::optional<ptg::Expression> operation(const Expression& it, const Environment& slots);
  ptg::Expression function(ExpressionId id, const Environment& slots);
  void require_known(ExpressionId id, const Environment& slots);

  std::shared_ptr<const Program> program_;
  Evaluator evaluator_;
};

/// How many operations an expression has, up to `most`.
std::size_t size_of(const ptg::Expression& expression, std::size_t most);

}  // namespace fairlead::jdf
