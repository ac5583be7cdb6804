// See lexer.hpp.
#include "front/jdf/lexer.hpp"

#include <fmt/format.h>
#include <array>
#include <string>
#include <string_view>

namespace fairlead::jdf {

namespace {

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool of_name(char c) { return begins_name(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\v'; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr char comment_end_letters[] = {'*', '/'};
constexpr std::string_view comment_end(comment_end_letters, 2);
bool begins_comment(std::string_view text) {
  return text.size() > 1 && text[0] == '/' && (text[1] == '/' || text[1] == '*');
}

struct Mark {
  std::string_view text;
  TokenKind token;
};
/// A mark comes before any prefix of it.
constexpr std::array<Mark, 33> marks{
    {{"<<", TokenKind::shift_left},    {">>", TokenKind::shift_right}, {"<=", TokenKind::less_equal},
     {">=", TokenKind::greater_equal}, {"==", TokenKind::equal},       {"!=", TokenKind::not_equal},
     {"&&", TokenKind::logical_and},   {"||", TokenKind::logical_or},  {"<-", TokenKind::arrow_in},
     {"->", TokenKind::arrow_out},     {"..", TokenKind::range},       {"(", TokenKind::open},
     {")", TokenKind::close},          {"[", TokenKind::open_bracket}, {"]", TokenKind::close_bracket},
     {",", TokenKind::comma},          {":", TokenKind::colon},        {";", TokenKind::semicolon},
     {"?", TokenKind::question},       {"=", TokenKind::assign},       {".", TokenKind::dot},
     {"+", TokenKind::plus},           {"-", TokenKind::minus},        {"*", TokenKind::times},
     {"/", TokenKind::divide},         {"%", TokenKind::modulo},       {"<", TokenKind::less},
     {">", TokenKind::greater},        {"&", TokenKind::bit_and},      {"|", TokenKind::bit_or},
     {"^", TokenKind::bit_xor},        {"~", TokenKind::bit_not},      {"!", TokenKind::logical_not}}};

class Lexer {
 public:
  Lexer(const SourceFile& source, SourceRange range, LexMode lexing, Diagnostics& diagnostics)
      : text_(std::string_view(source.text()).substr(0, range.end)),
        at_(range.begin),
        lexing_(lexing),
        diagnostics_(diagnostics) {}

  std::vector<Token> all() {
    while (skip_blanks(), at_ < text_.size()) word();
    add(TokenKind::end, at_);
    return std::move(words_);
  }

 private:
  bool looking_at(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool looking_at(char first, char second) const { return here() == first && here(1) == second; }
  char here(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  SourceRange from(std::size_t begin) const {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)};
  }
  void add(TokenKind token, std::size_t begin) {
    words_.push_back({token, first_, from(begin)});
    first_ = false;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (is_line_end(here())) {
        first_ = true;
        ++at_;
      } else if (is_blank(here())) {
        ++at_;
      } else if (looking_at('/', '/')) {
        while (at_ < text_.size() && !is_line_end(here())) ++at_;
      } else if (looking_at('/', '*')) {
        skip_comment();
      } else {
        return;
      }
    }
  }

  void skip_comment() {
    const std::size_t begin = at_;
    const std::size_t close = text_.find(comment_end, at_ + 2);
    if (close == std::string_view::npos) {
      at_ = begin + 2;
      diagnostics_.error(from(begin), "this comment is never closed: */ is missing");
      at_ = text_.size();
      return;
    }
    if (text_.substr(at_, close - at_).find('\n') != std::string_view::npos) first_ = true;
    at_ = close + 2;
  }

  void word() {
    const std::size_t begin = at_;
    const bool whole = lexing_ == LexMode::file;
    if (whole && first_ && !in_properties_ && keyword_at_line_begin("body")) return body();
    if (begins_name(here())) return name();
    if (is_digit(here()) || (here() == '.' && is_digit(here(1)))) return number();
    if (here() == '"') return text();
    if (whole && looking_at("%{")) return code(begin, TokenKind::code, 2);
    if (whole && looking_at("%c{")) return code(begin, TokenKind::code, 3);
    if (whole && first_ && here() == '%' && letters_at(at_ + 1, "option")) {
      at_ += 7;
      return add(TokenKind::option, begin);
    }
    if (!whole && here() == '\'' && here(1) != '\\' && !is_line_end(here(1)) && here(2) == '\'') {
      at_ += 3;  // 'L': the number of the character
      return add(TokenKind::integer, begin);
    }
    if (!whole && (here() == '{' || here() == '}')) {
      ++at_;
      return add(text_[begin] == '{' ? TokenKind::brace_open : TokenKind::brace_close, begin);
    }
    for (const Mark& mark : marks)
      if (looking_at(mark.text)) {
        at_ += mark.text.size();
        return add(mark.token, begin);
      }
    unknown();
  }

  void unknown() {
    const std::size_t begin = at_++;
    // All bytes of a UTF-8 sequence are one error.
    while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xC0U) == 0x80U) ++at_;
    const auto byte = static_cast<unsigned char>(text_[begin]);
    diagnostics_.error(from(begin), byte > ' ' && byte < 127
                                        ? fmt::format("'{}' is not allowed here", text_[begin])
                                        : fmt::format("the byte 0x{:02x} is not allowed here", byte));
  }

  bool letters_at(std::size_t at, std::string_view letters) const {
    if (at + letters.size() > text_.size()) return false;
    for (std::size_t i = 0; i < letters.size(); ++i)
      if (lower(text_[at + i]) != letters[i]) return false;
    return at + letters.size() == text_.size() || !of_name(text_[at + letters.size()]);
  }

  /// Whether BODY, in any case, is here and only properties or C code follow on its line.
  bool keyword_at_line_begin(std::string_view keyword) const {
    if (!letters_at(at_, keyword)) return false;
    std::size_t next = at_ + keyword.size();
    while (next < text_.size() && is_blank(text_[next])) ++next;
    return next == text_.size() || is_line_end(text_[next]) || text_[next] == '[' || text_[next] == '{' ||
           text_[next] == '/';
  }

  void name() {
    const std::size_t begin = at_;
    while (of_name(here())) ++at_;
    const std::string_view found = text_.substr(begin, at_ - begin);
    if (lexing_ == LexMode::file) {
      const std::size_t after = at_;
      if (found == "extern" && external(begin)) return;
      at_ = after;
      if (found == "inline_c" || found == "inline_C") {
        while (is_blank(here())) ++at_;
        if (looking_at("%{")) return code(begin, TokenKind::code, 2);
        at_ = after;
      }
    }
    add(TokenKind::name, begin);
  }

  /// Takes extern "C" %{ ... %}
  bool external(std::size_t begin) {
    while (is_blank(here())) ++at_;
    if (here() != '"') return false;
    const std::size_t language = at_;
    const std::size_t close = text_.find_first_of("\"\n", at_ + 1);
    if (close == std::string_view::npos || text_[close] != '"') return false;
    at_ = close + 1;
    while (is_blank(here()) || is_line_end(here())) ++at_;
    if (!looking_at("%{")) return false;
    if (text_.substr(language, close + 1 - language) != "\"C\"") {
      SourceRange where = from(language);
      where.end = static_cast<std::uint32_t>(close + 1);
      diagnostics_.error(where, "only extern \"C\" is supported");
    }
    code(begin, TokenKind::external, 2);
    return true;
  }

  /// Takes C code up to %}; the token's range excludes the delimiters.
  void code(std::size_t begin, TokenKind token, std::size_t opening) {
    const std::size_t mark = at_;
    at_ += opening;
    const std::size_t inside = at_;
    while (at_ < text_.size() && !looking_at("%}")) at_ += here() == '%' && at_ + 1 < text_.size() ? 2 : 1;
    if (at_ >= text_.size()) {
      at_ = mark + opening;
      diagnostics_.error({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)},
                         "this piece of C is never closed: %} is missing");
      at_ = text_.size();
    }
    words_.push_back({token, first_, from(inside)});
    first_ = false;
    at_ = std::min(at_ + 2, text_.size());
  }

  void text() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && here() != '"' && !is_line_end(here()))
      at_ += here() == '\\' && at_ + 1 < text_.size() && !is_line_end(here(1)) ? 2 : 1;
    if (here() != '"') {
      diagnostics_.error(from(begin), "this string is not closed on its line");
      return;
    }
    ++at_;
    add(TokenKind::text, begin);
  }

  void number() {
    const std::size_t begin = at_;
    bool real = false;
    const bool hex = here() == '0' && lower(here(1)) == 'x';
    if (hex) at_ += 2;
    const auto digits = [&] {
      while (is_digit(here()) || (hex && lower(here()) >= 'a' && lower(here()) <= 'f')) ++at_;
    };
    digits();
    if (here() == '.' && here(1) != '.') {
      real = true;
      ++at_;
      digits();
    }
    const char exponent = lower(here());
    if (exponent == (hex ? 'p' : 'e') &&
        (is_digit(here(1)) || ((here(1) == '+' || here(1) == '-') && is_digit(here(2))))) {
      real = true;
      at_ += 2;
      while (is_digit(here())) ++at_;
    }
    while (of_name(here())) ++at_;  // the suffix; the parser validates it
    add(real ? TokenKind::real : TokenKind::integer, begin);
  }

  // --- bodies ---

  void body() {
    std::size_t begin = at_;
    at_ += 4;
    add(TokenKind::body, begin);
    while (is_blank(here())) ++at_;
    if (here() == '[') {
      in_properties_ = true;
      int depth = 0;
      while (skip_blanks(), at_ < text_.size()) {
        const std::size_t before = words_.size();
        word();
        if (words_.size() == before) continue;
        if (words_.back().token == TokenKind::open_bracket) ++depth;
        if (words_.back().token == TokenKind::close_bracket && --depth <= 0) break;
      }
      in_properties_ = false;
      while (is_blank(here())) ++at_;
    }
    begin = at_;
    // The rest of the line is C, too.
    for (bool line_begins = false; at_ < text_.size(); line_begins = true) {
      const std::size_t line = at_;
      if (line_begins && end_line()) {
        words_.push_back({TokenKind::body_code,
                          false,
                          {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(line)}});
        add(TokenKind::body_end, at_ - 3);
        first_ = true;
        return;
      }
      const std::size_t next = text_.find('\n', line);
      at_ = next == std::string_view::npos ? text_.size() : next + 1;
    }
    diagnostics_.error(
        words_.back().token == TokenKind::body ? words_.back().where : from(begin > 4 ? begin - 4 : 0),
        "this BODY has no END at the beginning of a line");
    add(TokenKind::body_code, begin);
    add(TokenKind::body_end, at_);
  }

  /// Whether the line is END alone, except for blanks and comments; if so, takes it.
  bool end_line() {
    std::size_t at = at_;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    if (!letters_at(at, "end")) return false;
    std::size_t after = at + 3;
    while (after < text_.size() && is_blank(text_[after])) ++after;
    const std::string_view rest = text_.substr(after);
    if (!rest.empty() && !is_line_end(rest[0]) && !begins_comment(rest)) return false;
    at_ = at + 3;
    return true;
  }

  std::string_view text_;
  std::size_t at_;
  LexMode lexing_;
  Diagnostics& diagnostics_;
  std::vector<Token> words_;
  bool first_ = true;
  bool in_properties_ = false;  // in the properties of a body
};

}  // namespace

std::vector<Token> tokenize(const SourceFile& source, SourceRange range, LexMode lexing,
                            Diagnostics& diagnostics) {
  return Lexer(source, range, lexing, diagnostics).all();
}

const char* name_of(TokenKind token) noexcept {
  switch (token) {
    case TokenKind::end:
      return "the end of the file";
    case TokenKind::name:
      return "a name";
    case TokenKind::integer:
    case TokenKind::real:
      return "a number";
    case TokenKind::text:
      return "a string";
    case TokenKind::code:
      return "inline C";
    case TokenKind::external:
      return "extern \"C\"";
    case TokenKind::option:
      return "%option";
    case TokenKind::body:
      return "BODY";
    case TokenKind::body_code:
      return "the body";
    case TokenKind::body_end:
      return "END";
    case TokenKind::brace_open:
      return "\"{\"";
    case TokenKind::brace_close:
      return "\"}\"";
    case TokenKind::arrow_in:
      return "\"<-\"";
    case TokenKind::arrow_out:
      return "\"->\"";
    case TokenKind::open:
      return "\"(\"";
    case TokenKind::close:
      return "\")\"";
    case TokenKind::open_bracket:
      return "\"[\"";
    case TokenKind::close_bracket:
      return "\"]\"";
    case TokenKind::comma:
      return "\",\"";
    case TokenKind::colon:
      return "\":\"";
    case TokenKind::semicolon:
      return "\";\"";
    case TokenKind::question:
      return "\"?\"";
    case TokenKind::assign:
      return "\"=\"";
    case TokenKind::range:
      return "\"..\"";
    default:
      return "an operator";
  }
}

}  // namespace fairlead::jdf
