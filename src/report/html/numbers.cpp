// Varints as base64, and JSON for embedding in a page.
#include "report/html/numbers.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

namespace fairlead::report::html {

std::string Numbers::base64() const {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes_.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes_.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes_.size() ? static_cast<std::uint8_t>(bytes_[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= bytes_.size() - i ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string embedded(const Json& json) {
  // "</script" would end the element.
  const std::string text = json.text();
  std::string safe;
  bool indent = false;
  for (const char c : text) {
    if (c == '\n') indent = true;
    if (indent && (c == '\n' || c == ' ')) continue;
    indent = false;
    // JSON text has no ASCII control characters except DEL; U+0080 to U+009F are two bytes each in UTF-8.
    const auto byte = static_cast<unsigned char>(c);
    if (!safe.empty() && safe.back() == '\xc2' && byte >= 0x80 && byte < 0xa0) {
      safe.pop_back();
      safe += fmt::format("\\u{:04x}", byte);
    } else {
      safe += c == '<' || byte == 0x7f ? fmt::format("\\u{:04x}", byte) : std::string(1, c);
    }
  }
  return safe;
}

}  // namespace fairlead::report::html
