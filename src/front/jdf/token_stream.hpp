// The token stream that all parts of the parser share, with error reporting.
#pragma once
#include <string>
#include <vector>

#include "front/jdf/ast.hpp"
#include "front/jdf/lexer.hpp"

namespace fairlead::jdf {

/// Thrown after an error has been reported, and caught where parsing can resume. Never leaves the parser.
struct ParseAborted {};

class TokenStream {
 public:
  TokenStream(JdfFile& file, std::vector<Token> words, Diagnostics& diagnostics)
      : file_(file), words_(std::move(words)), diagnostics_(diagnostics) {}

  JdfFile& file() const noexcept { return file_; }
  Diagnostics& diagnostics() const noexcept { return diagnostics_; }

  const Token& peek(std::size_t ahead = 0) const noexcept {
    return words_[std::min(at_ + ahead, words_.size() - 1)];
  }
  bool is(TokenKind token, std::size_t ahead = 0) const noexcept { return peek(ahead).token == token; }
  std::string_view text(std::size_t ahead = 0) const { return file_.source.text(peek(ahead).where); }
  bool is_name(std::string_view name, std::size_t ahead = 0) const {
    return is(TokenKind::name, ahead) && text(ahead) == name;
  }
  const Token& advance() noexcept {
    const Token& word = peek();
    if (at_ + 1 < words_.size()) ++at_;
    return word;
  }
  bool match(TokenKind token) noexcept {
    if (!is(token)) return false;
    advance();
    return true;
  }
  /// Takes a token of that kind, or reports an error: "expected ")" after the arguments, found a name".
  const Token& expect(TokenKind token, const char* where);
  Name need_name(const char* what);
  [[noreturn]] void fail(SourceRange where, std::string message);

  /// In bodies `*NAME` is the value that a global points to.
  void allow_pointers() noexcept { knows_pointers_ = true; }
  bool pointers_allowed() const noexcept { return knows_pointers_; }

  std::size_t place() const noexcept { return at_; }
  void rewind(std::size_t place) noexcept { at_ = place; }
  /// Byte offset of the end of the last token.
  std::uint32_t end() const noexcept { return at_ == 0 ? 0 : words_[at_ - 1].where.end; }
  SourceRange since(std::uint32_t begin) const noexcept { return {begin, std::max(begin, end())}; }

 private:
  JdfFile& file_;
  std::vector<Token> words_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  bool knows_pointers_ = false;
};

/// The context of an expression, which determines the values that are valid.
enum class ExpressionContext : std::uint8_t {
  value,     // no range
  argument,  // a range is allowed
};

/// Parses a whole expression, with ?: and, for arguments, ranges.
ExpressionId parse_expression(TokenStream& words, ExpressionContext use);
/// Parses an expression up to a ?: for guards.
ExpressionId parse_guard(TokenStream& words);
/// Parses indices without their brackets: i = a .. b, j = c .. d.
std::vector<Index> parse_indices(TokenStream& words);
/// Parses [ name = value ... ] if it is there.
std::vector<Property> parse_properties(TokenStream& words);
/// Parses the content of a string or of inline C as an expression; no_expression if it is not one, and so
/// needs C.
ExpressionId parse_embedded_expression(JdfFile& file, SourceRange inside);
/// Sets `evaluated` and `variables` of inline C that is simple enough.
void parse_inline_c(JdfFile& file, ExpressionId id);

}  // namespace fairlead::jdf
