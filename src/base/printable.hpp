// Text for people, as terminals get it: a control character that a file name, a title or a file brings along is shown as
// "\x1b" instead of obeyed. Line feeds and tabs stay.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fairlead {

/// A filter for text that arrives in chunks, which may end inside a character.
class Printable {
 public:
  static constexpr std::size_t longest = 8;  ///< output bytes per input byte, at most

  /// Writes to `out` what `byte` becomes, and returns the number of bytes. Allocates nothing. The byte 0xc2, with which U+0080 to
  /// U+009F begin, is written together with the next one.
  std::size_t put(char byte, std::span<char, longest> out) noexcept;
  /// A held byte, at the end of the text.
  std::size_t finish(std::span<char, longest> out) noexcept;

 private:
  unsigned missing_ = 0;  // bytes of the current UTF-8 character that have not arrived
  bool holds_c2_ = false;
};

std::string printable(std::string_view text);

}  // namespace fairlead
