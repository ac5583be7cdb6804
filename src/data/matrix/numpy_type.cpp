// See numpy_type.hpp.
#include "data/matrix/numpy_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <fairlead/error.hpp>

namespace fairlead::data {
namespace {

/// Type names of NumPy without a size in bytes: a letter, which may follow a byte order, or a whole word.
struct NamedType {
  std::string_view name, letters;  // "float64": "f8"
};
constexpr NamedType named_types[] = {
    {"d", "f8"},       {"f", "f4"},         {"e", "f2"},           {"g", "f16"},
    {"D", "c16"},      {"F", "c8"},         {"G", "c32"},          {"clongdouble", "c32"},
    {"?", "b1"},       {"float64", "f8"},   {"double", "f8"},      {"float", "f8"},
    {"float_", "f8"},  {"float32", "f4"},   {"single", "f4"},      {"float16", "f2"},
    {"half", "f2"},    {"float128", "f16"}, {"longdouble", "f16"}, {"int8", "i1"},
    {"int16", "i2"},   {"int32", "i4"},     {"int64", "i8"},       {"int", "i8"},
    {"uint8", "u1"},   {"uint16", "u2"},    {"uint32", "u4"},      {"uint64", "u8"},
    {"bool", "b1"},    {"complex64", "c8"}, {"complex128", "c16"}, {"complex", "c16"},
    {"csingle", "c8"}, {"cdouble", "c16"},  {"complex256", "c32"}, {"object", "O"}};

/// The supported types, as letter and size.
struct SupportedType {
  std::string_view letters;
  ElementType element;
};
constexpr SupportedType supported_types[] = {{"f4", ElementType::float32},
                                             {"f8", ElementType::float64},
                                             {"c8", ElementType::complex64},
                                             {"c16", ElementType::complex128}};

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

}  // namespace

std::string_view numpy_letters(ElementType element) noexcept {
  for (const SupportedType& supported : supported_types)
    if (supported.element == element) return supported.letters;
  return {};
}

void set_numpy_type(ArrayLayout& layout, std::string_view descr, const std::string& name) {
  std::string_view rest = descr;
  char byte_order = '=';
  bool has_byte_order = false;
  if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
    byte_order = rest[0];
    has_byte_order = true;
    rest.remove_prefix(1);
  }
  rest = letters_of(rest, has_byte_order);
  for (const SupportedType& supported : supported_types)
    if (supported.letters == rest) {
      layout.element = supported.element;
      constexpr bool little = std::endian::native == std::endian::little;
      layout.byte_swapped = byte_order == (little ? '>' : '<');
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
  if (kind == 'c') advice = ". In NumPy, A.astype('c16') converts";
  throw InputError(fmt::format("{}: holds {} (dtype '{}'); {}{}", name,
                               kind_of(kind, rest.substr(rest.empty() ? 0 : 1)), descr, supported_numpy_types,
                               advice));
}

}  // namespace fairlead::data
