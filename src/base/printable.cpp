// Control characters are those of ASCII, and U+0080 to U+009F, which some terminals obey as well, as bytes or in UTF-8.
#include "base/printable.hpp"

#include <array>

namespace fairlead {

std::size_t Printable::put(char byte, std::span<char, longest> out) noexcept {
  const auto value = static_cast<unsigned char>(byte);
  const bool continues = (value & 0xc0u) == 0x80u;
  bool control = (value < 0x20 && byte != '\n' && byte != '\t') || value == 0x7f;
  if (continues) {
    control = missing_ == 0 || (may_be_c1_ && value < 0xa0);
    if (missing_ != 0) --missing_;
    may_be_c1_ = false;
  } else {
    missing_ = value >= 0xf0 ? 3 : value >= 0xe0 ? 2 : value >= 0xc0 ? 1 : 0;
    may_be_c1_ = value == 0xc2;
  }
  if (!control) {
    out[0] = byte;
    return 1;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  out[0] = '\\';
  out[1] = 'x';
  out[2] = digits[value >> 4];
  out[3] = digits[value & 15];
  return longest;
}

std::string printable(std::string_view text) {
  std::string out;
  Printable characters;
  std::array<char, Printable::longest> shown{};
  for (const char byte : text) out.append(shown.data(), characters.put(byte, shown));
  return out;
}

}  // namespace fairlead
