// Parses inline C that is simple enough to be evaluated without a compiler:
//
//   int a = EXPRESSION; ... if (EXPRESSION) return EXPRESSION; ... [else] return EXPRESSION;
//
// Any other inline C is unchanged, and needs a compiler.
#include <algorithm>
#include <array>
#include <string_view>

#include "front/jdf/token_stream.hpp"

namespace fairlead::jdf {

namespace {

class InlineCParser {
 public:
  explicit InlineCParser(TokenStream& words) : words_(words) {}

  /// The returned value; throws ParseAborted if the code is not that simple.
  ExpressionId value(std::vector<Index>& variables) {
    while (declaration_begins()) declarations(variables);
    const ExpressionId out = returned(0);
    if (!words_.is(TokenKind::end)) throw ParseAborted{};
    return out;
  }

 private:
  bool declaration_begins() const {
    std::size_t ahead = words_.is_name("const") ? 1 : 0;
    return words_.is_name("int", ahead) && words_.is(TokenKind::name, ahead + 1);
  }

  void declarations(std::vector<Index>& variables) {
    if (words_.is_name("const")) words_.advance();
    words_.advance();
    do {
      Index variable;
      variable.name = words_.need_name("a name");
      words_.expect(TokenKind::assign, "after a variable");
      variable.range = parse_expression(words_, ExpressionContext::value);
      variables.push_back(std::move(variable));
    } while (words_.match(TokenKind::comma));
    words_.expect(TokenKind::semicolon, "after a declaration");
  }

  ExpressionId returned(int depth) {
    if (depth > 50) throw ParseAborted{};
    const std::uint32_t begin = words_.peek().where.begin;
    if (words_.match(TokenKind::brace_open)) {
      const ExpressionId inside = returned(depth + 1);
      words_.expect(TokenKind::brace_close, "after a block");
      return inside;
    }
    if (words_.is_name("return")) {
      words_.advance();
      const ExpressionId out = parse_expression(words_, ExpressionContext::value);
      words_.expect(TokenKind::semicolon, "after what is returned");
      return out;
    }
    if (!words_.is_name("if")) throw ParseAborted{};
    words_.advance();
    words_.expect(TokenKind::open, "after if");
    Expression choice;
    choice.kind = Expression::Kind::ternary;
    choice.parts[0] = parse_expression(words_, ExpressionContext::value);
    words_.expect(TokenKind::close, "after the condition");
    choice.parts[1] = returned(depth + 1);
    if (words_.is_name("else")) words_.advance();
    choice.parts[2] = returned(depth + 1);
    choice.where = choice.operator_range = words_.since(begin);
    JdfFile& file = words_.file();
    for (const ExpressionId part : choice.parts)
      choice.depth =
          std::max<std::uint16_t>(choice.depth, static_cast<std::uint16_t>(file.at(part).depth + 1));
    file.expressions.push_back(std::move(choice));
    return static_cast<ExpressionId>(file.expressions.size() - 1);
  }

  TokenStream& words_;
};

}  // namespace

ExpressionId parse_embedded_expression(JdfFile& file, SourceRange inside) {
  Diagnostics discarded_diagnostics;
  TokenStream words(file, tokenize(file.source, inside, LexMode::expression, discarded_diagnostics),
                    discarded_diagnostics);
  try {
    const ExpressionId out = parse_expression(words, ExpressionContext::value);
    return words.is(TokenKind::end) && discarded_diagnostics.errors() == 0 ? out : no_expression;
  } catch (const ParseAborted&) {
    return no_expression;
  }
}

void parse_inline_c(JdfFile& file, ExpressionId id) {
  Diagnostics discarded_diagnostics;
  TokenStream words(file,
                    tokenize(file.source, file.at(id).where, LexMode::expression, discarded_diagnostics),
                    discarded_diagnostics);
  try {
    std::vector<Index> variables;
    const ExpressionId value = InlineCParser(words).value(variables);
    if (discarded_diagnostics.errors() != 0) return;
    Expression& code = file.expressions[id];
    code.parsed_content = value;
    code.variables = std::move(variables);
  } catch (const ParseAborted&) {
    // Not simple enough: the expression needs C.
  }
}

}  // namespace fairlead::jdf
