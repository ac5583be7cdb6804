// Parses expressions: C's operators with C's precedence, ranges, calls, inline C. The parser is recursive, so nesting
// is limited.
#include <fmt/format.h>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

#include "front/jdf/token_stream.hpp"

namespace fairlead::jdf {

namespace {

constexpr int deepest_nesting = 200;          // of parentheses and the like
constexpr std::uint16_t deepest_tree = 1000;  // a + b + c + ... is as deep as it is long

struct BinaryMark {
  TokenKind token;
  int strength;
  Operator op;
};
constexpr std::array<BinaryMark, 18> binary_marks{{{TokenKind::logical_or, 1, Operator::logical_or},
                                                   {TokenKind::logical_and, 2, Operator::logical_and},
                                                   {TokenKind::bit_or, 3, Operator::bit_or},
                                                   {TokenKind::bit_xor, 4, Operator::bit_xor},
                                                   {TokenKind::bit_and, 5, Operator::bit_and},
                                                   {TokenKind::equal, 6, Operator::equal},
                                                   {TokenKind::not_equal, 6, Operator::not_equal},
                                                   {TokenKind::less, 7, Operator::less},
                                                   {TokenKind::less_equal, 7, Operator::less_equal},
                                                   {TokenKind::greater, 7, Operator::greater},
                                                   {TokenKind::greater_equal, 7, Operator::greater_equal},
                                                   {TokenKind::shift_left, 8, Operator::shift_left},
                                                   {TokenKind::shift_right, 8, Operator::shift_right},
                                                   {TokenKind::plus, 9, Operator::add},
                                                   {TokenKind::minus, 9, Operator::subtract},
                                                   {TokenKind::times, 10, Operator::multiply},
                                                   {TokenKind::divide, 10, Operator::divide},
                                                   {TokenKind::modulo, 10, Operator::modulo}}};

const BinaryMark* binary_mark(TokenKind token) {
  for (const BinaryMark& mark : binary_marks)
    if (mark.token == token) return &mark;
  return nullptr;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& words) : words_(words) {}

  ExpressionId argument() {
    const ExpressionId first = conditional();
    if (!words_.is(TokenKind::range)) return first;
    Expression range = start(Expression::Kind::range, file().at(first).where.begin);
    range.operator_range = words_.advance().where;
    range.parts[0] = first;
    range.parts[1] = conditional();
    if (words_.match(TokenKind::range)) range.parts[2] = conditional();
    return finish(std::move(range));
  }

  ExpressionId conditional() {
    const Deeper deeper(*this);
    const ExpressionId condition = binary(1);
    if (!words_.is(TokenKind::question)) return condition;
    Expression choice = start(Expression::Kind::ternary, file().at(condition).where.begin);
    choice.operator_range = words_.advance().where;
    choice.parts[0] = condition;
    choice.parts[1] = conditional();
    words_.expect(TokenKind::colon, "between the two values of a ?:");
    choice.parts[2] = conditional();
    return finish(std::move(choice));
  }

  ExpressionId binary(int weakest) {
    ExpressionId left = unary();
    while (true) {
      // a <-1: after a value, <- is "less than minus", unless the value is a datum or a new line starts.
      const bool less_minus = words_.is(TokenKind::arrow_in) && !words_.peek().first &&
                              file().at(left).kind != Expression::Kind::call;
      const BinaryMark* mark = binary_mark(less_minus ? TokenKind::less : words_.peek().token);
      if (mark == nullptr || mark->strength < weakest) return left;
      Expression both = start(Expression::Kind::binary, file().at(left).where.begin);
      both.op = mark->op;
      both.operator_range = words_.advance().where;
      if (less_minus) minus_pending_ = true;
      both.parts[0] = left;
      both.parts[1] = binary(mark->strength + 1);
      left = finish(std::move(both));
    }
  }

 private:
  struct Deeper {
    explicit Deeper(ExpressionParser& of) : parser(of) {
      if (++parser.nesting_ > deepest_nesting) {
        const SourceRange where = parser.words_.peek().where;
        --parser.nesting_;
        parser.words_.fail(where, fmt::format("nested too deeply: more than {} levels", deepest_nesting));
      }
    }
    ~Deeper() { --parser.nesting_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ExpressionParser& parser;
  };

  JdfFile& file() const { return words_.file(); }

  static Expression start(Expression::Kind kind, std::uint32_t begin) {
    Expression it;
    it.kind = kind;
    it.where.begin = begin;
    return it;
  }

  ExpressionId finish(Expression&& it) {
    it.where = words_.since(it.where.begin);
    std::uint16_t below = 0;
    const auto look = [&](ExpressionId part) {
      if (part != no_expression) below = std::max(below, file().at(part).depth);
    };
    for (const ExpressionId part : it.parts) look(part);
    for (const ExpressionId part : it.arguments) look(part);
    it.depth = static_cast<std::uint16_t>(below + 1);
    if (it.depth > deepest_tree)
      words_.fail(it.where,
                  fmt::format("too long an expression: more than {} operators in a row", deepest_tree));
    file().expressions.push_back(std::move(it));
    return static_cast<ExpressionId>(file().expressions.size() - 1);
  }

  ExpressionId unary() {
    constexpr std::array<std::pair<TokenKind, Operator>, 4> marks{
        {{TokenKind::minus, Operator::negate},
         {TokenKind::plus, Operator::plus},
         {TokenKind::logical_not, Operator::logical_not},
         {TokenKind::bit_not, Operator::bit_not}}};
    const Deeper deeper(*this);
    if (minus_pending_) {
      minus_pending_ = false;
      Expression it = start(Expression::Kind::unary, words_.peek().where.begin);
      it.op = Operator::negate;
      it.operator_range = words_.peek().where;
      it.parts[0] = unary();
      return finish(std::move(it));
    }
    for (const auto& [token, op] : marks)
      if (words_.is(token)) {
        Expression it = start(Expression::Kind::unary, words_.peek().where.begin);
        it.op = op;
        it.operator_range = words_.advance().where;
        it.parts[0] = unary();
        return finish(std::move(it));
      }
    return primary();
  }

  /// Parses *INFO, which is a name of its own.
  ExpressionId pointed() {
    Expression it = start(Expression::Kind::name, words_.advance().where.begin);
    it.operator_range = words_.peek().where;
    it.base = it.text = "*" + std::string(file().source.text(words_.advance().where));
    return finish(std::move(it));
  }

  ExpressionId primary() {
    const Token word = words_.peek();
    if (words_.pointers_allowed() && word.token == TokenKind::times && words_.is(TokenKind::name, 1))
      return pointed();
    switch (word.token) {
      case TokenKind::integer:
        return integer();
      case TokenKind::real:
        return real();
      case TokenKind::text: {
        words_.advance();
        Expression it = start(Expression::Kind::text, word.where.begin);
        const SourceRange inside{word.where.begin + 1, word.where.end - 1};
        it.text = std::string(file().source.text(inside));
        it.operator_range = inside;
        return finish(std::move(it));
      }
      case TokenKind::code: {
        words_.advance();
        Expression it = start(Expression::Kind::inline_c, word.where.begin);
        it.text = std::string(file().source.text(word.where));
        it.operator_range = word.where;
        const ExpressionId id = finish(std::move(it));
        file().expressions[id].where = word.where;
        return id;
      }
      case TokenKind::open: {
        words_.advance();
        const ExpressionId inside = conditional();
        words_.expect(TokenKind::close, "to close the parenthesis");
        return inside;
      }
      case TokenKind::name:
        return name();
      default:
        break;
    }
    words_.fail(word.where, fmt::format("expected a value, found {}", found(word)));
  }

  std::string found(const Token& word) const {
    if (word.token < TokenKind::plus) return name_of(word.token);
    return fmt::format("\"{}\"", file().source.text(word.where));
  }

  ExpressionId integer() {
    const Token word = words_.advance();
    const std::string written(file().source.text(word.where));
    Expression it = start(Expression::Kind::integer, word.where.begin);
    if (written[0] == '\'') {
      it.integer = static_cast<unsigned char>(written[1]);
      return finish(std::move(it));
    }
    char* rest = nullptr;
    errno = 0;
    it.integer = std::strtoull(written.c_str(), &rest, 0);
    if (errno == ERANGE) words_.fail(word.where, fmt::format("{} does not fit into 64 bits", written));
    const bool octal = written.size() > 1 && written[0] == '0';
    int suffix_l = 0;
    bool sound = true;
    for (; *rest != '\0'; ++rest) {
      if ((*rest == 'u' || *rest == 'U') && !it.is_unsigned)
        it.is_unsigned = true;
      else if ((*rest == 'l' || *rest == 'L') && suffix_l < 2)
        ++suffix_l;
      else
        sound = false;
    }
    if (!sound) words_.fail(word.where, fmt::format("\"{}\" is not a number", written.substr(0, 40)));
    // C's rule: the first type that holds the value. Decimal literals are unsigned only with a suffix.
    it.is_long = suffix_l > 0 || it.integer > (it.is_unsigned || octal ? UINT32_MAX : INT32_MAX);
    if (!it.is_unsigned && octal && !it.is_long && it.integer > INT32_MAX) it.is_unsigned = true;
    if (!it.is_unsigned && it.integer > INT64_MAX) {
      if (!octal) words_.fail(word.where, fmt::format("{} does not fit into 64 bits with a sign", written));
      it.is_unsigned = true;
    }
    return finish(std::move(it));
  }

  ExpressionId real() {
    const Token word = words_.advance();
    const std::string written(file().source.text(word.where));
    Expression it = start(Expression::Kind::real, word.where.begin);
    char* rest = nullptr;
    it.real = std::strtod(written.c_str(), &rest);
    const std::string_view suffix = rest;
    if (!suffix.empty() && suffix != "f" && suffix != "F" && suffix != "l" && suffix != "L")
      words_.fail(word.where, fmt::format("\"{}\" is not a number", written.substr(0, 40)));
    if (suffix == "f" || suffix == "F") it.real = static_cast<double>(static_cast<float>(it.real));
    return finish(std::move(it));
  }

  ExpressionId name() {
    const Token word = words_.advance();
    Expression it = start(Expression::Kind::name, word.where.begin);
    it.base = it.text = std::string(file().source.text(word.where));
    it.operator_range = word.where;
    while ((words_.is(TokenKind::arrow_out) || words_.is(TokenKind::dot)) && words_.is(TokenKind::name, 1) &&
           !words_.peek().first) {
      it.text += words_.advance().token == TokenKind::dot ? "." : "->";
      it.text += file().source.text(words_.advance().where);
    }
    if (words_.is(TokenKind::open)) {
      words_.advance();
      it.kind = Expression::Kind::call;
      if (!words_.is(TokenKind::close)) do
          it.arguments.push_back(argument());
        while (words_.match(TokenKind::comma));
      words_.expect(TokenKind::close, "after the arguments");
    }
    return finish(std::move(it));
  }

  TokenStream& words_;
  int nesting_ = 0;
  // in a <-1: the arrow was taken as "less", and its "-" is still to be applied
  bool minus_pending_ = false;
};

}  // namespace

ExpressionId parse_expression(TokenStream& words, ExpressionContext use) {
  ExpressionParser parser(words);
  return use == ExpressionContext::argument ? parser.argument() : parser.conditional();
}

ExpressionId parse_guard(TokenStream& words) { return ExpressionParser(words).binary(1); }

std::vector<Index> parse_indices(TokenStream& words) {
  std::vector<Index> out;
  do {
    Index index;
    index.name = words.need_name("the name of a local index");
    words.expect(TokenKind::assign, "after the name of a local index");
    index.range = parse_expression(words, ExpressionContext::argument);
    out.push_back(std::move(index));
  } while (words.match(TokenKind::comma));
  return out;
}

std::vector<Property> parse_properties(TokenStream& words) {
  std::vector<Property> out;
  if (!words.match(TokenKind::open_bracket)) return out;
  while (!words.is(TokenKind::close_bracket)) {
    Property property;
    property.name = words.need_name("a property or \"]\"");
    while (words.is(TokenKind::dot) && words.is(TokenKind::name, 1)) {  // B.size: a property of the flow B
      words.advance();
      property.name.text += "." + words.need_name("a name").text;
      property.name.where = words.since(property.name.where.begin);
    }
    if (words.match(TokenKind::assign)) property.value = parse_expression(words, ExpressionContext::value);
    out.push_back(std::move(property));
    words.match(TokenKind::comma);
  }
  words.expect(TokenKind::close_bracket, "after the properties");
  return out;
}

}  // namespace fairlead::jdf
