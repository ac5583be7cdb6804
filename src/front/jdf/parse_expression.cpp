// Expressions: C's operators with C's precedence, ranges, calls, inline C. Nesting is limited, as every step of it is a
// step of the parser's own stack.
#include <fmt/format.h>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

#include "front/jdf/parser_words.hpp"

namespace fairlead::jdf {

namespace {

constexpr int deepest_nesting = 200;          // of parentheses and the like
constexpr std::uint16_t deepest_tree = 1000;  // a + b + c + ... is as deep as it is long

struct BinaryMark {
  Token token;
  int strength;
  Operator op;
};
constexpr std::array<BinaryMark, 18> binary_marks{{{Token::logical_or, 1, Operator::logical_or},
                                                   {Token::logical_and, 2, Operator::logical_and},
                                                   {Token::bit_or, 3, Operator::bit_or},
                                                   {Token::bit_xor, 4, Operator::bit_xor},
                                                   {Token::bit_and, 5, Operator::bit_and},
                                                   {Token::equal, 6, Operator::equal},
                                                   {Token::not_equal, 6, Operator::not_equal},
                                                   {Token::less, 7, Operator::less},
                                                   {Token::less_equal, 7, Operator::less_equal},
                                                   {Token::greater, 7, Operator::greater},
                                                   {Token::greater_equal, 7, Operator::greater_equal},
                                                   {Token::shift_left, 8, Operator::shift_left},
                                                   {Token::shift_right, 8, Operator::shift_right},
                                                   {Token::plus, 9, Operator::add},
                                                   {Token::minus, 9, Operator::subtract},
                                                   {Token::times, 10, Operator::multiply},
                                                   {Token::divide, 10, Operator::divide},
                                                   {Token::modulo, 10, Operator::modulo}}};

const BinaryMark* binary_mark(Token token) {
  for (const BinaryMark& mark : binary_marks)
    if (mark.token == token) return &mark;
  return nullptr;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(WordReader& words) : words_(words) {}

  ExpressionId argument() {
    const ExpressionId first = conditional();
    if (!words_.is(Token::range)) return first;
    Expression range = start(Expression::Kind::range, file().at(first).where.begin);
    range.mark = words_.next().where;
    range.parts[0] = first;
    range.parts[1] = conditional();
    if (words_.take(Token::range)) range.parts[2] = conditional();
    return finish(std::move(range));
  }

  ExpressionId conditional() {
    const Deeper deeper(*this);
    const ExpressionId condition = binary(1);
    if (!words_.is(Token::question)) return condition;
    Expression choice = start(Expression::Kind::ternary, file().at(condition).where.begin);
    choice.mark = words_.next().where;
    choice.parts[0] = condition;
    choice.parts[1] = conditional();
    words_.need(Token::colon, "between the two values of a ?:");
    choice.parts[2] = conditional();
    return finish(std::move(choice));
  }

  ExpressionId binary(int weakest) {
    ExpressionId left = unary();
    while (true) {
      // a <-1: no arrow follows a value, unless that is the place of a datum or a new line begins.
      const bool less_minus = words_.is(Token::arrow_in) && !words_.peek().first &&
                              file().at(left).kind != Expression::Kind::call;
      const BinaryMark* mark = binary_mark(less_minus ? Token::less : words_.peek().token);
      if (mark == nullptr || mark->strength < weakest) return left;
      Expression both = start(Expression::Kind::binary, file().at(left).where.begin);
      both.op = mark->op;
      both.mark = words_.next().where;
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
        const Range where = parser.words_.peek().where;
        --parser.nesting_;
        parser.words_.fail(where, fmt::format("nested too deeply: more than {} levels", deepest_nesting));
      }
    }
    ~Deeper() { --parser.nesting_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ExpressionParser& parser;
  };

  File& file() const { return words_.file(); }

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
    constexpr std::array<std::pair<Token, Operator>, 4> marks{{{Token::minus, Operator::negate},
                                                               {Token::plus, Operator::plus},
                                                               {Token::logical_not, Operator::logical_not},
                                                               {Token::bit_not, Operator::bit_not}}};
    const Deeper deeper(*this);
    if (minus_pending_) {
      minus_pending_ = false;
      Expression it = start(Expression::Kind::unary, words_.peek().where.begin);
      it.op = Operator::negate;
      it.mark = words_.peek().where;
      it.parts[0] = unary();
      return finish(std::move(it));
    }
    for (const auto& [token, op] : marks)
      if (words_.is(token)) {
        Expression it = start(Expression::Kind::unary, words_.peek().where.begin);
        it.op = op;
        it.mark = words_.next().where;
        it.parts[0] = unary();
        return finish(std::move(it));
      }
    return primary();
  }

  /// *INFO: a name of its own.
  ExpressionId pointed() {
    Expression it = start(Expression::Kind::name, words_.next().where.begin);
    it.mark = words_.peek().where;
    it.base = it.text = "*" + std::string(file().source.text(words_.next().where));
    return finish(std::move(it));
  }

  ExpressionId primary() {
    const Word word = words_.peek();
    if (words_.knows_pointers() && word.token == Token::times && words_.is(Token::name, 1)) return pointed();
    switch (word.token) {
      case Token::integer:
        return integer();
      case Token::real:
        return real();
      case Token::text: {
        words_.next();
        Expression it = start(Expression::Kind::text, word.where.begin);
        const Range inside{word.where.begin + 1, word.where.end - 1};
        it.text = std::string(file().source.text(inside));
        it.mark = inside;
        return finish(std::move(it));
      }
      case Token::code: {
        words_.next();
        Expression it = start(Expression::Kind::inline_c, word.where.begin);
        it.text = std::string(file().source.text(word.where));
        it.mark = word.where;
        const ExpressionId id = finish(std::move(it));
        file().expressions[id].where = word.where;
        return id;
      }
      case Token::open: {
        words_.next();
        const ExpressionId inside = conditional();
        words_.need(Token::close, "to close the parenthesis");
        return inside;
      }
      case Token::name:
        return name();
      default:
        break;
    }
    words_.fail(word.where, fmt::format("expected a value, found {}", found(word)));
  }

  std::string found(const Word& word) const {
    if (word.token < Token::plus) return name_of(word.token);
    return fmt::format("\"{}\"", file().source.text(word.where));
  }

  ExpressionId integer() {
    const Word word = words_.next();
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
    if (!sound) words_.fail(word.where, fmt::format("\"{}\" is no number", written.substr(0, 40)));
    // The first type of C's list that holds it; decimal ones are never unsigned without saying so.
    it.is_long = suffix_l > 0 || it.integer > (it.is_unsigned || octal ? UINT32_MAX : INT32_MAX);
    if (!it.is_unsigned && octal && !it.is_long && it.integer > INT32_MAX) it.is_unsigned = true;
    if (!it.is_unsigned && it.integer > INT64_MAX) {
      if (!octal) words_.fail(word.where, fmt::format("{} does not fit into 64 bits with a sign", written));
      it.is_unsigned = true;
    }
    return finish(std::move(it));
  }

  ExpressionId real() {
    const Word word = words_.next();
    const std::string written(file().source.text(word.where));
    Expression it = start(Expression::Kind::real, word.where.begin);
    char* rest = nullptr;
    it.real = std::strtod(written.c_str(), &rest);
    const std::string_view suffix = rest;
    if (!suffix.empty() && suffix != "f" && suffix != "F" && suffix != "l" && suffix != "L")
      words_.fail(word.where, fmt::format("\"{}\" is no number", written.substr(0, 40)));
    if (suffix == "f" || suffix == "F") it.real = static_cast<double>(static_cast<float>(it.real));
    return finish(std::move(it));
  }

  ExpressionId name() {
    const Word word = words_.next();
    Expression it = start(Expression::Kind::name, word.where.begin);
    it.base = it.text = std::string(file().source.text(word.where));
    it.mark = word.where;
    while ((words_.is(Token::arrow_out) || words_.is(Token::dot)) && words_.is(Token::name, 1) &&
           !words_.peek().first) {
      it.text += words_.next().token == Token::dot ? "." : "->";
      it.text += file().source.text(words_.next().where);
    }
    if (words_.is(Token::open)) {
      words_.next();
      it.kind = Expression::Kind::call;
      if (!words_.is(Token::close)) do
          it.arguments.push_back(argument());
        while (words_.take(Token::comma));
      words_.need(Token::close, "after the arguments");
    }
    return finish(std::move(it));
  }

  WordReader& words_;
  int nesting_ = 0;
  bool minus_pending_ = false;  // of a <-1: the arrow has been taken for "less", and was half a minus
};

}  // namespace

ExpressionId parse_expression(WordReader& words, Use use) {
  ExpressionParser parser(words);
  return use == Use::argument ? parser.argument() : parser.conditional();
}

ExpressionId parse_guard(WordReader& words) { return ExpressionParser(words).binary(1); }

std::vector<Index> parse_indices(WordReader& words) {
  std::vector<Index> out;
  do {
    Index index;
    index.name = words.need_name("the name of a local index");
    words.need(Token::assign, "after the name of a local index");
    index.range = parse_expression(words, Use::argument);
    out.push_back(std::move(index));
  } while (words.take(Token::comma));
  return out;
}

std::vector<Property> parse_properties(WordReader& words) {
  std::vector<Property> out;
  if (!words.take(Token::open_bracket)) return out;
  while (!words.is(Token::close_bracket)) {
    Property property;
    property.name = words.need_name("a property or \"]\"");
    while (words.is(Token::dot) && words.is(Token::name, 1)) {  // B.size: of the flow B
      words.next();
      property.name.text += "." + words.need_name("a name").text;
      property.name.where = words.since(property.name.where.begin);
    }
    if (words.take(Token::assign)) property.value = parse_expression(words, Use::value);
    out.push_back(std::move(property));
    words.take(Token::comma);
  }
  words.need(Token::close_bracket, "after the properties");
  return out;
}

}  // namespace fairlead::jdf
