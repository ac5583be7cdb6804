// See constants.hpp.
#include "front/jdf/constants.hpp"

#include <algorithm>

#include "front/jdf/c_expressions.hpp"

namespace fairlead::jdf {

void Constants::find(const JdfFile& file, const Settings& settings, ExpressionId id) {
  if (id == no_expression || knows(id)) return;
  const Expression& it = file.at(id);
  for (const ExpressionId part : it.parts) find(file, settings, part);
  for (const ExpressionId part : it.arguments) find(file, settings, part);
  for (const Index& variable : it.variables) find(file, settings, variable.range);
  find(file, settings, it.parsed_content);
  const bool set_for_c =
      it.kind == Expression::Kind::name && it.meaning == Binding::c && settings.c_name(it.index);
  if (!is_constant(it) && !set_for_c) return;
  try {
    values_[id] = Evaluator(file, settings, this).value(id, {});
  } catch (const EvaluationError&) {
    // Not an error here: the expression may never be evaluated.
  }
}

/// Whether the value is known, given that constant operands have been found already.
bool Constants::is_constant(const Expression& it) const {
  switch (it.kind) {
    case Expression::Kind::integer:
    case Expression::Kind::real:
      return true;
    case Expression::Kind::name:
      return it.meaning == Binding::global || it.meaning == Binding::member;
    case Expression::Kind::unary:
      return knows(it.parts[0]);
    case Expression::Kind::binary: {
      if (!knows(it.parts[0])) return false;
      const bool first = of(it.parts[0]).truth();
      if (it.op == Operator::logical_and && !first) return true;
      if (it.op == Operator::logical_or && first) return true;
      return knows(it.parts[1]);
    }
    case Expression::Kind::ternary:
      return knows(it.parts[0]) && knows(it.parts[of(it.parts[0]).truth() ? 1 : 2]);
    case Expression::Kind::call:
      return is_known_call(it) &&
             std::ranges::all_of(it.arguments, [&](ExpressionId part) { return knows(part); });
    case Expression::Kind::inline_c:
    case Expression::Kind::text:
      return it.variables.empty() && it.parsed_content != no_expression && knows(it.parsed_content);
    case Expression::Kind::range:
      return false;
  }
  return false;
}

}  // namespace fairlead::jdf
