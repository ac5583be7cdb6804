// The encoding of data in a page: numbers as varints in base64, names as JSON. page/numbers.js decodes both.
#pragma once
#include <cstdint>
#include <string>

#include "base/json.hpp"

namespace fairlead::report::html {

class Numbers {
 public:
  void add(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes_ += static_cast<char>(value);
  }
  void add_signed(std::int64_t value) {
    add((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  std::string base64() const;

 private:
  std::string bytes_;
};

/// JSON that is safe inside a <script> element, without indentation.
std::string embedded(const Json& json);

}  // namespace fairlead::report::html
