// Selects units and digits.
#include "report/units.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace fairlead::report {

namespace {

// Three digits: "1.23", "12.3", "123".
std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

}  // namespace

std::string with_commas(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t after = 3; after < digits.size(); after += 4) digits.insert(digits.size() - after, 1, ',');
  return digits;
}

std::string moved_bytes(Bytes bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 6> units = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  // 999.6 would be written as 1000.
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  return fmt::format("{} {}", three_digits(value), units[unit]);
}

std::string readable_seconds(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds < 0.0009995) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 99.95) return fmt::format("{} s", three_digits(seconds));
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::max(seconds, 0.0)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole % 3600 / 60, whole % 60);
}

std::string percent(double part, double whole) {
  if (!(whole > 0)) return "-";
  const double value = 100 * part / whole;
  if (value == 0) return "0 %";
  return fmt::format("{:.{}f} %", value,
                     value < 0.995                                   ? 2
                     : value < 9.95 || (value > 99 && value < 99.95) ? 1
                                                                     : 0);
}

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

std::string ratio(Bytes measured, Bytes bound) {
  return bound == 0 ? ""
                    : fmt::format("x {:.2f}", static_cast<double>(measured) / static_cast<double>(bound));
}

}  // namespace fairlead::report
