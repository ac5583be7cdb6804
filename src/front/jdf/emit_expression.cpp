// See emit_expression.hpp.
#include "front/jdf/emit_expression.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "front/jdf/emit.hpp"

namespace fairlead::jdf {

namespace {

constexpr int primary = 13, prefix = 12, additive = 10, conditional = 1;

struct OperatorText {
  const char* text;
  int strength;
};

/// By Operator. The precedence is the same in C++ and in C.
constexpr std::array<OperatorText, 22> operator_texts{
    {{"+", 10}, {"-", 10}, {"*", 11}, {"/", 11}, {"%", 11}, {"<<", 9}, {">>", 9}, {"<", 8},
     {"<=", 8}, {">", 8},  {">=", 8}, {"==", 7}, {"!=", 7}, {"&", 6},  {"|", 4},  {"^", 5},
     {"&&", 3}, {"||", 2}, {"-", 12}, {"+", 12}, {"!", 12}, {"~", 12}}};

const OperatorText& text_of_operator(Operator op) { return operator_texts[static_cast<std::size_t>(op)]; }

bool is_smaller(std::string_view function) {
  return function == "dplasma_imin" || function == "parsec_imin" || function == "dague_imin";
}
bool is_larger(std::string_view function) {
  return function == "dplasma_imax" || function == "parsec_imax" || function == "dague_imax";
}

bool within_word(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
         (letter >= '0' && letter <= '9');
}

/// Whether parentheses help a reader, or avoid a compiler warning, where C needs none.
bool doubtful(int outer, int inner) {
  if (outer == 2 && inner == 3) return true;                    // a || b && c
  if (outer >= 4 && outer <= 6) return inner < prefix;          // bits
  if (outer == 9) return inner < prefix;                        // shifts
  return outer >= 7 && outer <= 8 && inner >= 7 && inner <= 8;  // comparisons of comparisons
}

std::string within(const CppExpression& piece, int outer, bool right) {
  const bool negated = outer >= 7 && outer <= 8 && piece.text.starts_with('!');  // !a == b
  const bool weaker = negated || piece.precedence < outer || (right && piece.precedence == outer);
  return weaker || doubtful(outer, piece.precedence) ? "(" + piece.text + ")" : piece.text;
}

/// The C code in a string literal, as in default = "look_up(\"name\")".
std::string within_quotation_marks(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
    out += text[i];
  }
  return out;
}

}  // namespace

bool mentions(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !within_word(text[at - 1])) && (end == text.size() || !within_word(text[end])))
      return true;
  }
  return false;
}

bool EmitExpressions::is_literal(ExpressionId id, std::int64_t& value) const {
  const Expression& it = file_.at(id);
  if (it.kind == Expression::Kind::unary && it.op == Operator::negate) {
    if (!is_literal(it.parts[0], value)) return false;
    value = -value;
    return true;
  }
  if (it.kind != Expression::Kind::integer || it.integer > INT32_MAX) return false;
  value = static_cast<std::int64_t>(it.integer);
  return true;
}

bool EmitExpressions::needs_c(ExpressionId id) const {
  if (id == no_expression) return false;
  const Expression& it = file_.at(id);
  const auto any = [&](const auto& ids) {
    return std::ranges::any_of(ids, [&](ExpressionId part) { return needs_c(part); });
  };
  switch (it.kind) {
    case Expression::Kind::integer:
      return it.integer > INT64_MAX;
    case Expression::Kind::real:
      return true;
    case Expression::Kind::text:
    case Expression::Kind::inline_c:
      return it.parsed_content == no_expression || !it.variables.empty() || needs_c(it.parsed_content);
    case Expression::Kind::name: {
      if (it.meaning == Binding::c || it.meaning == Binding::unbound) return true;
      if (it.meaning != Binding::global) return false;
      const auto kind = globals_[it.index].kind;
      return kind != EmitGlobal::Kind::integer && kind != EmitGlobal::Kind::number;
    }
    case Expression::Kind::call:
      return !(is_smaller(it.text) || is_larger(it.text)) || it.arguments.size() != 2 || any(it.arguments);
    default:
      return any(it.parts);
  }
}

void EmitExpressions::collect(ExpressionId id, const EmitScope& scope, std::set<std::uint32_t>& slots) const {
  if (id == no_expression) return;
  const Expression& it = file_.at(id);
  if (it.kind == Expression::Kind::name && it.meaning == Binding::local) slots.insert(it.index);
  if (it.kind == Expression::Kind::inline_c && needs_c(id)) {
    for (const Definition& definition : scope.task_class->definitions)
      if (mentions(it.text, definition.name.text)) slots.insert(definition.slot);
    return;
  }
  if (it.kind == Expression::Kind::inline_c || it.kind == Expression::Kind::text)
    collect(it.parsed_content, scope, slots);
  for (const ExpressionId part : it.parts) collect(part, scope, slots);
  for (const ExpressionId argument : it.arguments) collect(argument, scope, slots);
}

std::string EmitExpressions::unique_name(const char* what) { return fmt::format("{}{}", what, ++parts_); }

CppExpression EmitExpressions::cpp(ExpressionId id, const EmitScope& scope, const Hoist& hoist) {
  return needs_c(id) ? call_c(id, scope) : translate(id, scope, hoist);
}

CppExpression EmitExpressions::translate(ExpressionId id, const EmitScope& scope, const Hoist& hoist) {
  const Expression& it = file_.at(id);
  switch (it.kind) {
    case Expression::Kind::integer:
      return {fmt::format("{}{}", it.integer, it.integer > INT32_MAX ? "L" : ""), primary, false};
    case Expression::Kind::text:
    case Expression::Kind::inline_c:
      return translate(it.parsed_content, scope, hoist);
    case Expression::Kind::name:
      return name(it, scope);
    case Expression::Kind::unary:
      return unary(it, scope, hoist);
    case Expression::Kind::binary:
      return binary(it, scope, hoist);
    case Expression::Kind::ternary:
      return ternary(it, scope, hoist);
    default:
      return min_max(it, scope, hoist);
  }
}

CppExpression EmitExpressions::name(const Expression& it, const EmitScope& scope) {
  if (it.meaning == Binding::local) return {scope.cpp_names.at(it.index), primary, true};
  if (it.meaning == Binding::global) {
    const EmitGlobal& global = globals_[it.index];
    if (!global.given) read_by_c_.emplace(global.cpp_name, global.name);
    return {global.cpp_name, primary, false};
  }
  const EmitGlobal& of = globals_[file_.members[it.index].global];
  if (of.given && of.cpp_sees_members())
    return {of.cpp_name + it.text.substr(of.name.size()), primary, false};
  const std::string own = cpp_name(it.text);
  read_by_c_.emplace(own, it.text);
  return {own, primary, false};
}

/// Hoists a long subexpression into a named constant, so that lines stay short.
void EmitExpressions::shorten(CppExpression& piece, std::size_t others, const Hoist& hoist) {
  if (piece.text.size() + others < 64 || piece.text.size() < 20 || piece.precedence == primary) return;
  const std::string own = unique_name("part");
  hoist(fmt::format("const {} {} = {};", piece.depends_on_indices ? "ptg::Expression" : "auto", own,
                    piece.text));
  piece = {own, primary, piece.depends_on_indices};
}

CppExpression EmitExpressions::unary(const Expression& it, const EmitScope& scope, const Hoist& hoist) {
  const CppExpression operand = translate(it.parts[0], scope, hoist);
  if (it.op == Operator::plus) return operand;
  if (it.op == Operator::bit_not && operand.depends_on_indices)
    return {"-1 - " + within(operand, additive, true), additive, true};
  return {text_of_operator(it.op).text + within(operand, prefix, true), prefix, operand.depends_on_indices};
}

CppExpression EmitExpressions::binary(const Expression& it, const EmitScope& scope, const Hoist& hoist) {
  CppExpression left = translate(it.parts[0], scope, hoist), right = translate(it.parts[1], scope, hoist);
  shorten(left, right.text.size(), hoist);
  shorten(right, left.text.size(), hoist);
  const OperatorText& op = text_of_operator(it.op);
  // A division is evaluated lazily: division by zero is an error only then, and none if a condition excludes it.
  const bool divides = it.op == Operator::divide || it.op == Operator::modulo;
  if (divides && !left.depends_on_indices && !right.depends_on_indices)
    left = {"ptg::Expression(" + left.text + ")", primary, true};
  return {
      fmt::format("{} {} {}", within(left, op.strength, false), op.text, within(right, op.strength, true)),
      op.strength, left.depends_on_indices || right.depends_on_indices};
}

CppExpression EmitExpressions::ternary(const Expression& it, const EmitScope& scope, const Hoist& hoist) {
  std::array<CppExpression, 3> parts;
  std::size_t size = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    parts[i] = translate(it.parts[i], scope, hoist);
    size += parts[i].text.size();
  }
  for (CppExpression& part : parts) shorten(part, size - part.text.size(), hoist);
  if (std::ranges::any_of(parts, &CppExpression::depends_on_indices))
    return {fmt::format("choose({}, {}, {})", parts[0].text, parts[1].text, parts[2].text), primary, true};
  return {fmt::format("{} ? {} : {}", within(parts[0], conditional, true),
                      within(parts[1], conditional, true), within(parts[2], conditional, true)),
          conditional, false};
}

CppExpression EmitExpressions::min_max(const Expression& it, const EmitScope& scope, const Hoist& hoist) {
  CppExpression left = translate(it.arguments[0], scope, hoist),
                right = translate(it.arguments[1], scope, hoist);
  shorten(left, right.text.size(), hoist);
  shorten(right, left.text.size(), hoist);
  const bool varies = left.depends_on_indices || right.depends_on_indices;
  return {fmt::format("{}{}({}, {})", varies ? "" : "std::",
                      std::string(is_smaller(it.text) ? "min" : "max") + (varies ? "" : "<std::int64_t>"),
                      left.text, right.text),
          primary, varies};
}

void EmitExpressions::add_function(ExpressionId id, const EmitScope& scope,
                                   std::vector<std::string>& cpp_arguments, std::string& name) {
  const std::string text = c(id, {});
  EmitCFunction function;
  const int number = ++purposes_[scope.purpose];
  name = function_ + "_" + scope.purpose + (number == 1 ? "" : fmt::format("_{}", number));
  function.name = name;
  function.value = id;
  for (const auto& [in_c, in_cpp] : scope.visible)
    if (mentions(text, in_c)) {
      function.indices.push_back(in_c);
      cpp_arguments.push_back(in_cpp);
    }
  functions_.push_back(std::move(function));
}

CppExpression EmitExpressions::call_c(ExpressionId id, const EmitScope& scope) {
  std::vector<std::string> arguments;
  std::string name;
  add_function(id, scope, arguments, name);
  if (arguments.empty()) return {fmt::format("{}(c_globals.get(), nullptr)", name), primary, false};
  return {fmt::format("in_c({}, {}, {{{}}})", "\"" + scope.purpose + "\"", name, fmt::join(arguments, ", ")),
          primary, true};
}

std::string EmitExpressions::c(ExpressionId id, const InnerFunctions& inner) const {
  const Expression& it = file_.at(id);
  const auto part = [&](std::size_t i) { return "(" + c(it.parts[i], inner) + ")"; };
  switch (it.kind) {
    case Expression::Kind::integer:
    case Expression::Kind::real:
      return std::string(file_.source.text(it.where));
    case Expression::Kind::name:
      return it.text;
    case Expression::Kind::unary:
      return text_of_operator(it.op).text + part(0);
    case Expression::Kind::binary:
      return part(0) + " " + text_of_operator(it.op).text + " " + part(1);
    case Expression::Kind::ternary:
      return part(0) + " ? " + part(1) + " : " + part(2);
    case Expression::Kind::call: {
      std::vector<std::string> arguments;
      for (const ExpressionId argument : it.arguments) arguments.push_back(c(argument, inner));
      return fmt::format("{}({})", it.text, fmt::join(arguments, ", "));
    }
    case Expression::Kind::text:
      return within_quotation_marks(file_.source.text(it.operator_range));
    case Expression::Kind::inline_c: {
      const auto found = inner.find(id);
      return found == inner.end() ? std::string(file_.source.text(it.where))
                                  : found->second + "(c_globals, c_indices)";
    }
    case Expression::Kind::range:
      break;
  }
  return "0";
}

}  // namespace fairlead::jdf
