// Control characters are those of ASCII, and U+0080 to U+009F as single bytes or in UTF-8, since some terminals
// interpret them too.
#include "base/printable.hpp"

#include <array>
#include <utility>

namespace fairlead {

namespace {

std::size_t put_escaped(unsigned char value, std::span<char> out) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  out[0] = '\\';
  out[1] = 'x';
  out[2] = digits[value >> 4];
  out[3] = digits[value & 15];
  return 4;
}

}  // namespace

std::size_t Printable::put(char byte, std::span<char, longest> out) noexcept {
  constexpr unsigned char first_of_c1 = 0xc2;
  const auto value = static_cast<unsigned char>(byte);
  const bool continues = (value & 0xc0u) == 0x80u;
  bool control = (value < 0x20 && byte != '\n' && byte != '\t') || value == 0x7f;
  std::size_t size = 0;
  if (continues) {
    control = missing_ == 0 || (holds_c2_ && value < 0xa0);
    if (missing_ != 0) --missing_;
  } else {
    missing_ = value >= 0xf0 ? 3 : value >= 0xe0 ? 2 : value >= 0xc0 ? 1 : 0;
  }
  if (holds_c2_) {
    if (continues && control) {
      size = put_escaped(first_of_c1, out);
    } else {
      out[size++] = static_cast<char>(first_of_c1);
    }
  }
  holds_c2_ = value == first_of_c1;
  if (holds_c2_) return size;
  if (control) return size + put_escaped(value, std::span<char>(out).subspan(size));
  out[size++] = byte;
  return size;
}

std::size_t Printable::finish(std::span<char, longest> out) noexcept {
  if (!std::exchange(holds_c2_, false)) return 0;
  out[0] = '\xc2';
  return 1;
}

std::string printable(std::string_view text) {
  std::string out;
  Printable characters;
  std::array<char, Printable::longest> shown{};
  for (const char byte : text) out.append(shown.data(), characters.put(byte, shown));
  out.append(shown.data(), characters.finish(shown));
  return out;
}

}  // namespace fairlead
