// Text for people, as terminals get it: a control character that a file name, a title or a file brings along is shown as
// "\x1b" instead of obeyed. Line feeds and tabs stay.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fairlead {

/// For text that comes in pieces, which may end inside a character.
class Printable {
 public:
  static constexpr std::size_t longest = 4;  ///< bytes that one byte becomes at most

  /// Writes into `out` what `byte` becomes, and returns how many bytes that are. Allocates nothing.
  std::size_t put(char byte, std::span<char, longest> out) noexcept;

 private:
  unsigned missing_ = 0;  // bytes of the character of UTF-8 that has begun
  bool may_be_c1_ = false;
};

std::string printable(std::string_view text);

}  // namespace fairlead
