// Inline C that is simple enough to be evaluated without a compiler:
//
//   int a = EXPRESSION; ... if (EXPRESSION) return EXPRESSION; ... [else] return EXPRESSION;
//
// Anything else is left as it is; then only C can say what it returns.
#include <algorithm>
#include <array>
#include <string_view>

#include "front/jdf/parser_words.hpp"

namespace fairlead::jdf {

namespace {

class InlineC {
 public:
  explicit InlineC(WordReader& words) : words_(words) {}

  /// The value that is returned; throws CannotGoOn where it is not that simple.
  ExpressionId value(std::vector<Index>& variables) {
    while (declaration_begins()) declarations(variables);
    const ExpressionId out = returned(0);
    if (!words_.is(Token::end)) throw CannotGoOn{};
    return out;
  }

 private:
  bool declaration_begins() const {
    std::size_t ahead = words_.is_name("const") ? 1 : 0;
    return words_.is_name("int", ahead) && words_.is(Token::name, ahead + 1);
  }

  void declarations(std::vector<Index>& variables) {
    if (words_.is_name("const")) words_.next();
    words_.next();
    do {
      Index variable;
      variable.name = words_.need_name("a name");
      words_.need(Token::assign, "after a variable");
      variable.range = parse_expression(words_, Use::value);
      variables.push_back(std::move(variable));
    } while (words_.take(Token::comma));
    words_.need(Token::semicolon, "after a declaration");
  }

  ExpressionId returned(int depth) {
    if (depth > 50) throw CannotGoOn{};
    const std::uint32_t begin = words_.peek().where.begin;
    if (words_.take(Token::brace_open)) {
      const ExpressionId inside = returned(depth + 1);
      words_.need(Token::brace_close, "after a block");
      return inside;
    }
    if (words_.is_name("return")) {
      words_.next();
      const ExpressionId out = parse_expression(words_, Use::value);
      words_.need(Token::semicolon, "after what is returned");
      return out;
    }
    if (!words_.is_name("if")) throw CannotGoOn{};
    words_.next();
    words_.need(Token::open, "after if");
    Expression choice;
    choice.kind = Expression::Kind::ternary;
    choice.parts[0] = parse_expression(words_, Use::value);
    words_.need(Token::close, "after the condition");
    choice.parts[1] = returned(depth + 1);
    if (words_.is_name("else")) words_.next();
    choice.parts[2] = returned(depth + 1);
    choice.where = choice.mark = words_.since(begin);
    File& file = words_.file();
    for (const ExpressionId part : choice.parts)
      choice.depth =
          std::max<std::uint16_t>(choice.depth, static_cast<std::uint16_t>(file.at(part).depth + 1));
    file.expressions.push_back(std::move(choice));
    return static_cast<ExpressionId>(file.expressions.size() - 1);
  }

  WordReader& words_;
};

}  // namespace

ExpressionId expression_within(File& file, Range inside) {
  Diagnostics unheard;
  WordReader words(file, words_of(file.source, inside, Lexing::expression, unheard), unheard);
  try {
    const ExpressionId out = parse_expression(words, Use::value);
    return words.is(Token::end) && unheard.errors() == 0 ? out : no_expression;
  } catch (const CannotGoOn&) {
    return no_expression;
  }
}

void look_into_inline_c(File& file, ExpressionId id) {
  Diagnostics unheard;
  WordReader words(file, words_of(file.source, file.at(id).where, Lexing::expression, unheard), unheard);
  try {
    std::vector<Index> variables;
    const ExpressionId value = InlineC(words).value(variables);
    if (unheard.errors() != 0) return;
    Expression& code = file.expressions[id];
    code.evaluated = value;
    code.variables = std::move(variables);
  } catch (const CannotGoOn&) {
    // Then C has to say it.
  }
}

}  // namespace fairlead::jdf
