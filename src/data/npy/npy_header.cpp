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

namespace fairlead::data {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr const char* supported = "supported are 32- and 64-bit floating point ('<f4', '<f8', '>f4', '>f8')";

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

/// Type names of NumPy without a size in bytes: a letter, which may follow a byte order, or a whole word.
struct NamedType {
  std::string_view name, letters;  // "float64": "f8"
};
constexpr NamedType named_types[] = {
    {"d", "f8"},      {"f", "f4"},         {"e", "f2"},           {"g", "f16"},
    {"?", "b1"},      {"float64", "f8"},   {"double", "f8"},      {"float", "f8"},
    {"float_", "f8"}, {"float32", "f4"},   {"single", "f4"},      {"float16", "f2"},
    {"half", "f2"},   {"float128", "f16"}, {"longdouble", "f16"}, {"int8", "i1"},
    {"int16", "i2"},  {"int32", "i4"},     {"int64", "i8"},       {"int", "i8"},
    {"uint8", "u1"},  {"uint16", "u2"},    {"uint32", "u4"},      {"uint64", "u8"},
    {"bool", "b1"},   {"complex64", "c8"}, {"complex128", "c16"}, {"complex", "c16"},
    {"object", "O"}};

/// The type as letter and size, without byte order.
std::string_view letters_of(std::string_view type, bool after_byte_order) {
  for (const NamedType& named : named_types)
    if (named.name == type && (named.name.size() == 1 || !after_byte_order)) return named.letters;
  return type;
}

/// The element type of a dtype in words.
std::string kind_of(char kind, std::string_view item_bytes) {
  int bits = 0;
  for (const char digit : item_bytes)
    if (std::isdigit(static_cast<unsigned char>(digit)) != 0 && bits < 1'000'000)
      bits = bits * 10 + (digit - '0');
  bits *= 8;
  switch (kind) {
    case 'f':
      return fmt::format("{}-bit floating point numbers", bits);
    case 'i':
      return fmt::format("{}-bit integers", bits);
    case 'u':
      return fmt::format("unsigned {}-bit integers", bits);
    case 'c':
      return fmt::format("complex numbers of {} bits", bits);
    case 'b':
      return "booleans";
    case 'O':
      return "Python objects";
    case 'S':
    case 'a':
    case 'U':
      return "strings";
    case 'V':
      return "records";
    case 'm':
    case 'M':
      return "dates or times";
    default:
      return "elements of an unknown type";
  }
}

void set_element(NpyHeader& header, std::string_view descr, const std::string& name) {
  std::string_view rest = descr;
  char byte_order = '=';
  bool has_byte_order = false;
  if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
    byte_order = rest[0];
    has_byte_order = true;
    rest.remove_prefix(1);
  }
  rest = letters_of(rest, has_byte_order);
  if (rest == "f4" || rest == "f8") {
    header.element = rest == "f4" ? ElementType::float32 : ElementType::float64;
    constexpr bool little = std::endian::native == std::endian::little;
    header.byte_swapped = byte_order == (little ? '>' : '<');
    return;
  }
  // Only a letter followed by a size is a kind; other names are unknown.
  const bool sized = !rest.empty() && std::ranges::all_of(rest.substr(1), [](unsigned char letter) {
    return std::isdigit(letter) != 0 || letter == '[' || letter == ']' || std::isalpha(letter) != 0;
  }) && (rest.size() == 1 || std::isdigit(static_cast<unsigned char>(rest[1])) != 0 || rest[1] == '[');
  const char kind = sized ? rest[0] : '\0';
  std::string advice;
  if (kind == 'f' || kind == 'i' || kind == 'u' || kind == 'b' || kind == 'O')
    advice = ". In NumPy, A.astype('f8') converts";
  throw InputError(fmt::format("{}: holds {} (dtype '{}'); {}{}", name,
                               kind_of(kind, rest.substr(rest.empty() ? 0 : 1)), descr, supported, advice));
}

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
        throw InputError(fmt::format("{}: holds records of several fields; {}", name, supported));
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
  set_element(header, *descr, name);
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
  std::string dictionary = fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': {}, }}",
                                       std::endian::native == std::endian::little ? '<' : '>',
                                       element == ElementType::float32 ? "f4" : "f8",
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
