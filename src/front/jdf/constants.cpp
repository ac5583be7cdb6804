// See constants.hpp.
#include "front/jdf/constants.hpp"

#include <algorithm>

#include "front/jdf/c_leaves.hpp"

namespace fairlead::jdf {

void Constants::find(const File& file, const Settings& settings, ExpressionId id) {
  if (id == no_expression || knows(id)) return;
  const Expression& it = file.at(id);
  for (const ExpressionId part : it.parts) find(file, settings, part);
  for (const ExpressionId part : it.arguments) find(file, settings, part);
  for (const Index& variable : it.variables) find(file, settings, variable.range);
  find(file, settings, it.evaluated);
  const bool set_for_c =
      it.kind == Expression::Kind::name && it.meaning == Meaning::c && settings.c_name(it.index);
  if (!is_constant(it) && !set_for_c) return;
  try {
    values_[id] = Evaluator(file, settings, this).value(id, {});
  } catch (const EvaluationError&) {
    // Perhaps nobody asks for it.
  }
}

/// Of what it consists of is known whatever is looked at.
bool Constants::is_constant(const Expression& it) const {
  switch (it.kind) {
    case Expression::Kind::integer:
    case Expression::Kind::real:
      return true;
    case Expression::Kind::name:
      return it.meaning == Meaning::global || it.meaning == Meaning::member;
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
      return it.variables.empty() && it.evaluated != no_expression && knows(it.evaluated);
    case Expression::Kind::range:
      return false;
  }
  return false;
}

}  // namespace fairlead::jdf
