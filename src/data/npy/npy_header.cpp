// Parses the header. Its dictionary is a Python literal, as written by any version of NumPy: keys in any order,
// either kind of quotes, long integers of Python 2 ("3L"), spaces anywhere.
#include "data/npy/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <fairlead/error.hpp>
#include <optional>

#include "data/matrix/numpy_type.hpp"

namespace fairlead::data {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void malformed(const std::string& name, const std::string& what) {
  throw InputError(fmt::format("{}: the header of this .npy file is malformed: {}", name, what));
}

/// A scanner of the dictionary's text.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  bool take(char letter) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  void expect(char letter) {
    if (!take(letter)) malformed(name_, fmt::format("'{}' expected at its byte {}", letter, at_));
  }
  bool next_is(char letter) {
    skip_space();
    return at_ < text_.size() && text_[at_] == letter;
  }
  std::string string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') malformed(name_, fmt::format("a string expected at its byte {}", at_));
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) malformed(name_, "a string without an end");
    const auto value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(value);
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    malformed(name_, fmt::format("True or False expected at its byte {}", at_));
  }
  std::uint64_t integer() {
    skip_space();
    std::uint64_t value = 0;
    const auto begin = at_;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0; ++at_)
      if (__builtin_mul_overflow(value, 10u, &value) ||
          __builtin_add_overflow(value, static_cast<unsigned>(text_[at_] - '0'), &value))
        malformed(name_, "a dimension beyond 64 bits");
    if (at_ == begin) malformed(name_, fmt::format("a number from 0 expected at its byte {}", at_));
    take('L');
    return value;
  }
  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> dimensions;
    expect('(');
    while (!take(')')) {
      dimensions.push_back(integer());
      if (take(',')) continue;
      expect(')');
      break;
    }
    return dimensions;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_npy(std::string_view first_bytes) noexcept {
  return first_bytes.starts_with(magic.substr(0, std::min(magic.size(), first_bytes.size())));
}

NpyPreamble parse_npy_preamble(std::string_view first_bytes, const std::string& name) {
  if (first_bytes.empty()) throw InputError(fmt::format("{}: is empty (0 bytes), not an .npy file", name));
  if (!is_npy(first_bytes))
    throw InputError(
        fmt::format("{}: is not an .npy file (it does not begin as numpy.save begins it)", name));
  const auto byte = [&](std::size_t at) {
    return static_cast<Bytes>(static_cast<unsigned char>(first_bytes[at]));
  };
  const auto require = [&](Bytes bytes) {
    if (first_bytes.size() < bytes)
      throw InputError(fmt::format("{}: is truncated: it ends after {} bytes, inside of the header", name,
                                   first_bytes.size()));
  };
  require(8);
  const auto version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0)
    throw InputError(fmt::format("{}: is an .npy file of version {}.{}; supported are 1.0, 2.0 and 3.0", name,
                                 version, byte(7)));
  if (version == 1) {
    require(10);
    return {10, byte(8) | byte(9) << 8};
  }
  require(12);
  return {12, byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24};
}

NpyHeader parse_npy_dictionary(std::string_view dictionary, const std::string& name) {
  Reader reader(dictionary, name);
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::uint64_t>> shape;
  reader.expect('{');
  while (!reader.take('}')) {
    const auto key = reader.string();
    reader.expect(':');
    if (key == "descr") {
      if (reader.next_is('[') || reader.next_is('('))
        throw InputError(fmt::format("{}: holds records of several fields; {}", name, supported_numpy_types));
      descr = reader.string();
    } else if (key == "fortran_order") {
      fortran_order = reader.boolean();
    } else if (key == "shape") {
      shape = reader.shape();
    } else {
      malformed(name, fmt::format("the key '{}' is unknown", key));
    }
    if (reader.take(',')) continue;
    reader.expect('}');
    break;
  }
  if (!reader.at_end()) malformed(name, "something follows the dictionary");
  if (!descr) malformed(name, "it has no 'descr'");
  if (!fortran_order) malformed(name, "it has no 'fortran_order'");
  if (!shape) malformed(name, "it has no 'shape'");

  NpyHeader header;
  set_numpy_type(header, *descr, name);
  header.order = *fortran_order ? StorageOrder::fortran : StorageOrder::c;
  header.shape = std::move(*shape);
  Bytes bytes = bytes_of(header.element);
  bool too_large = false;
  for (const auto dimension : header.shape) too_large |= __builtin_mul_overflow(bytes, dimension, &bytes);
  if (too_large || bytes > (Bytes{1} << 62))
    malformed(name, fmt::format("the shape {} is larger than any file", shape_text(header.shape)));
  return header;
}

std::string make_npy_header(ElementType element, StorageOrder order,
                            const std::vector<std::uint64_t>& shape) {
  std::string dictionary =
      fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': {}, }}",
                  std::endian::native == std::endian::little ? '<' : '>', numpy_letters(element),
                  order == StorageOrder::fortran ? "True" : "False", shape_text(shape));
  const std::size_t unpadded = magic.size() + 4 + dictionary.size() + 1;
  dictionary.append((64 - unpadded % 64) % 64, ' ');
  dictionary.push_back('\n');
  std::string header(magic);
  header += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xff),
             static_cast<char>(dictionary.size() >> 8)};
  return header + dictionary;
}

}  // namespace fairlead::data
