// Base-2 logarithms and powers in integers. Estimates enter decisions, which must not depend on the math library.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace fairlead::model {

/// A base-2 logarithm in units of 1/65,536.
using Log2 = std::int64_t;
inline constexpr Log2 log2_one = Log2{1} << 16;

/// The logarithm of 0 counts as that of 1.
constexpr Log2 log2_of(std::uint64_t value) noexcept {
  if (value <= 1) return 0;
  const int whole = std::bit_width(value) - 1;
  // The mantissa is in [2^31, 2^32). Squaring it doubles the logarithm; the carry is the next binary digit.
  std::uint64_t mantissa = whole >= 31 ? value >> (whole - 31) : value << (31 - whole);
  Log2 result = Log2{whole} << 16;
  for (int digit = 15; digit >= 0; --digit) {
    mantissa = (mantissa * mantissa) >> 31;
    if (mantissa >> 32 == 0) continue;
    mantissa >>= 1;
    result |= Log2{1} << digit;
  }
  return result;
}

namespace detail {
constexpr std::uint64_t square_root(std::uint64_t value) noexcept {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit >>= 1)
    if ((root | bit) * (root | bit) <= value) root |= bit;
  return root;
}
/// 2^(1/2), 2^(1/4), ... in units of 1/2^30.
inline constexpr auto roots_of_two = [] {
  std::array<std::uint64_t, 16> roots{};
  std::uint64_t last = std::uint64_t{2} << 30;
  for (auto& root : roots) root = last = square_root(last << 30);
  return roots;
}();
}  // namespace detail

/// At least 1 and at most 2^52, which is about fifty days in nanoseconds.
constexpr std::int64_t power_of_two(Log2 exponent) noexcept {
  if (exponent <= 0) return 1;
  if (exponent >= 52 * log2_one) return std::int64_t{1} << 52;
  std::uint64_t value = std::uint64_t{1} << 30;
  for (std::size_t i = 0; i < 16; ++i)
    if ((exponent >> (15 - i) & 1) != 0) value = (value * detail::roots_of_two[i]) >> 30;
  const int whole = static_cast<int>(exponent >> 16);
  return static_cast<std::int64_t>(whole >= 30 ? value << (whole - 30) : value >> (30 - whole));
}

}  // namespace fairlead::model
