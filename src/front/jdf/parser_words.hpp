// What the parts of the parser share: the words, where one is, and what is done about a mistake.
#pragma once
#include <string>
#include <vector>

#include "front/jdf/lexer.hpp"
#include "front/jdf/tree.hpp"

namespace fairlead::jdf {

/// Thrown after a mistake has been told, and caught where parsing can go on. Never leaves the parser.
struct CannotGoOn {};

class WordReader {
 public:
  WordReader(File& file, std::vector<Word> words, Diagnostics& diagnostics)
      : file_(file), words_(std::move(words)), diagnostics_(diagnostics) {}

  File& file() const noexcept { return file_; }
  Diagnostics& diagnostics() const noexcept { return diagnostics_; }

  const Word& peek(std::size_t ahead = 0) const noexcept {
    return words_[std::min(at_ + ahead, words_.size() - 1)];
  }
  bool is(Token token, std::size_t ahead = 0) const noexcept { return peek(ahead).token == token; }
  std::string_view text(std::size_t ahead = 0) const { return file_.source.text(peek(ahead).where); }
  bool is_name(std::string_view name, std::size_t ahead = 0) const {
    return is(Token::name, ahead) && text(ahead) == name;
  }
  const Word& next() noexcept {
    const Word& word = peek();
    if (at_ + 1 < words_.size()) ++at_;
    return word;
  }
  bool take(Token token) noexcept {
    if (!is(token)) return false;
    next();
    return true;
  }
  /// The word of that kind, or a mistake: "expected ")" after the arguments, found a name".
  const Word& need(Token token, const char* where);
  Name need_name(const char* what);
  [[noreturn]] void fail(Range where, std::string message);

  /// In bodies `*NAME` is what a global points to.
  void know_pointers() noexcept { knows_pointers_ = true; }
  bool knows_pointers() const noexcept { return knows_pointers_; }

  std::size_t place() const noexcept { return at_; }
  void back_to(std::size_t place) noexcept { at_ = place; }
  /// The last word that was taken ends here.
  std::uint32_t end() const noexcept { return at_ == 0 ? 0 : words_[at_ - 1].where.end; }
  Range since(std::uint32_t begin) const noexcept { return {begin, std::max(begin, end())}; }

 private:
  File& file_;
  std::vector<Word> words_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  bool knows_pointers_ = false;
};

/// How a value is used, which says what it may be.
enum class Use : std::uint8_t {
  value,     // no range
  argument,  // a range may stand
};

/// All of an expression, with ?: and, for arguments, ranges.
ExpressionId parse_expression(WordReader& words, Use use);
/// One that ends before a ?: for guards.
ExpressionId parse_guard(WordReader& words);
/// Without its brackets: i = a .. b, j = c .. d.
std::vector<Index> parse_indices(WordReader& words);
/// [ name = value ... ] if it is there.
std::vector<Property> parse_properties(WordReader& words);
/// `inside` of a string or of inline C as an expression, or no_expression if it is none: then C has to say it.
ExpressionId expression_within(File& file, Range inside);
/// What inline C returns where it is simple enough: sets `evaluated` and `variables`.
void look_into_inline_c(File& file, ExpressionId id);

}  // namespace fairlead::jdf
