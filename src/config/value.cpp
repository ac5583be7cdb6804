// See value.hpp.
#include "config/value.hpp"

#include "base/suggest.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace fairlead {

std::string_view name_of(SettingType type) noexcept {
  switch (type) {
    case SettingType::size:
      return "size";
    case SettingType::count:
      return "count";
    case SettingType::real:
      return "real";
    case SettingType::text:
      return "text";
    case SettingType::choice:
      return "choice";
    case SettingType::flag:
      return "flag";
    case SettingType::bandwidth:
      return "bandwidth";
  }
  return "?";
}

}  // namespace fairlead

namespace fairlead::config {

namespace {

__extension__ using Wide = unsigned __int128;

struct Unit {
  std::string_view name;
  Bytes bytes;
};
constexpr std::array units = {
    Unit{"EiB", Bytes(1) << 60},
    Unit{"PiB", Bytes(1) << 50},
    Unit{"TiB", Bytes(1) << 40},
    Unit{"GiB", Bytes(1) << 30},
    Unit{"MiB", Bytes(1) << 20},
    Unit{"KiB", Bytes(1) << 10},
    Unit{"EB", 1'000'000'000'000'000'000},
    Unit{"PB", 1'000'000'000'000'000},
    Unit{"TB", 1'000'000'000'000},
    Unit{"GB", 1'000'000'000},
    Unit{"MB", 1'000'000},
    Unit{"kB", 1'000},
    Unit{"B", 1},
    // As in batch systems and ulimit. Accepted, but not written.
    Unit{"T", Bytes(1) << 40},
    Unit{"G", Bytes(1) << 30},
    Unit{"M", Bytes(1) << 20},
    Unit{"K", Bytes(1) << 10},
};
constexpr bool is_letter_alone(const Unit& unit) { return unit.name.size() == 1 && unit.bytes != 1; }

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool same_word(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, lower, lower); }

constexpr std::string_view size_problem =
    "not a size; write bytes, or a number with a unit, as in 512MiB, 2GB, 2G (= 2GiB) or 1e9";
constexpr std::string_view bandwidth_problem = "not a bandwidth; write a size per second, as in 250MB/s";

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<std::uint64_t> parse_bandwidth(std::string_view text) {
  if (!text.ends_with("/s")) return {};
  return parse_size(text.substr(0, text.size() - 2));
}

std::optional<bool> parse_flag(std::string_view text) {
  for (const std::string_view yes : {"true", "yes", "on", "1"})
    if (same_word(text, yes)) return true;
  for (const std::string_view no : {"false", "no", "off", "0"})
    if (same_word(text, no)) return false;
  return {};
}

ParsedValue read_unchecked(const Setting& setting, std::string_view text) {
  const auto or_problem = [](auto value, std::string problem) {
    return value ? ParsedValue{Value(*value), {}} : ParsedValue{{}, std::move(problem)};
  };
  switch (setting.type) {
    case SettingType::size:
      return or_problem(parse_size(text), std::string(size_problem));
    case SettingType::bandwidth:
      return or_problem(parse_bandwidth(text), std::string(bandwidth_problem));
    case SettingType::count:
      return or_problem(parse_count(text), "not a whole number of 0 or more");
    case SettingType::real:
      return or_problem(parse_real(text), "not a number");
    case SettingType::flag:
      return or_problem(parse_flag(text), "must be true or false");
    case SettingType::text:
      if (text.empty()) return {{}, "must not be empty"};
      return {std::string(text), {}};
    case SettingType::choice: {
      const auto choices = choices_of(setting);
      if (std::ranges::find(choices, text) != choices.end() || is_former_choice(setting, text))
        return {std::string(text), {}};
      return {{}, fmt::format("must be one of {}{}", join(choices, ", "), did_you_mean(text, choices))};
    }
  }
  return {};
}

/// The position of the digits in "e9" or "e+9"; npos if there is no exponent, as in "1EB".
std::size_t exponent_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || lower(text[at]) != 'e') return text.npos;
  ++at;
  if (at < text.size() && text[at] == '+') ++at;
  return at < text.size() && is_digit(text[at]) ? at : text.npos;
}

bool less(const Value& a, const Value& b) {
  if (const double* real = std::get_if<double>(&a)) return *real < std::get<double>(b);
  if (const std::uint64_t* count = std::get_if<std::uint64_t>(&a)) return *count < std::get<std::uint64_t>(b);
  return false;
}

}  // namespace

std::optional<Bytes> parse_size(std::string_view text) {
  // 128 bits make 1.5GiB exact. Decimals after the 18th do not change the number of bytes.
  Wide number = 0, scale = 1;
  std::size_t at = 0;
  bool digits = false;
  for (; at < text.size() && is_digit(text[at]); ++at, digits = true) {
    number = number * 10 + static_cast<unsigned>(text[at] - '0');
    if (number > std::numeric_limits<Bytes>::max()) return {};
  }
  if (digits && at < text.size() && text[at] == '.') {
    const std::size_t first = ++at;
    for (; at < text.size() && is_digit(text[at]); ++at)
      if (scale < Wide(1'000'000'000'000'000'000)) {
        number = number * 10 + static_cast<unsigned>(text[at] - '0');
        scale *= 10;
      }
    if (at == first) return {};
  }
  if (!digits) return {};
  if (const std::size_t exponent = exponent_at(text, at); exponent != text.npos) {
    unsigned zeros = 0;
    for (at = exponent; at < text.size() && is_digit(text[at]); ++at)
      zeros = std::min(zeros * 10 + static_cast<unsigned>(text[at] - '0'), 1000u);
    for (; zeros > 0 && number != 0; --zeros) {
      if (scale > 1)
        scale /= 10;
      else if (number > std::numeric_limits<Bytes>::max())
        return {};
      else
        number *= 10;
    }
    if (number == 0) scale = 1;
  }
  while (at < text.size() && text[at] == ' ') ++at;
  const std::string_view word = text.substr(at);
  if (word.empty())
    return scale == 1 && number <= std::numeric_limits<Bytes>::max()
               ? std::optional<Bytes>(static_cast<Bytes>(number))
               : std::nullopt;
  for (const Unit& unit : units) {
    if (!same_word(word, unit.name)) continue;
    // number < 2^64 * 10^18: times a unit it can exceed 128 bits, so the integer part and the rest are multiplied
    // separately.
    const Wide whole = number / scale * unit.bytes, rest = number % scale * unit.bytes / scale;
    if (number / scale > std::numeric_limits<Bytes>::max() / unit.bytes) return {};
    if (whole + rest > std::numeric_limits<Bytes>::max()) return {};
    return static_cast<Bytes>(whole + rest);
  }
  return {};
}

std::optional<double> parse_share(std::string_view text) {
  if (!text.ends_with('%')) return {};
  const std::optional<double> percent = parse_real(text.substr(0, text.size() - 1));
  if (!percent || !(*percent > 0 && *percent <= 100)) return {};
  return *percent / 100;
}

std::string format_size(Bytes bytes) {
  std::string best = fmt::format("{}", bytes);
  for (const Unit& unit : units) {
    if (unit.bytes == 1 || is_letter_alone(unit) || bytes == 0 || bytes % unit.bytes != 0) continue;
    std::string text = fmt::format("{}{}", bytes / unit.bytes, unit.name);
    if (text.size() < best.size()) best = std::move(text);
  }
  return best;
}

std::string readable_size(Bytes bytes) {
  for (const Unit& unit : units)
    if (unit.name.size() == 3 && bytes >= unit.bytes)
      return fmt::format("{:.{}f} {}", static_cast<double>(bytes) / static_cast<double>(unit.bytes),
                         bytes < 100 * unit.bytes ? 1 : 0, unit.name);
  return fmt::format("{} B", bytes);
}

ParsedValue parse_value(const Setting& setting, std::string_view text) {
  if (!setting.unset_word.empty() && text == setting.unset_word) return {};
  ParsedValue reading = read_unchecked(setting, text);
  if (!reading.error.empty()) return reading;
  const bool low =
      !setting.minimum.empty() && less(reading.value, read_unchecked(setting, setting.minimum).value);
  const bool high =
      !setting.maximum.empty() && less(read_unchecked(setting, setting.maximum).value, reading.value);
  if (!low && !high) return reading;
  if (setting.maximum.empty()) return {{}, fmt::format("must be at least {}", setting.minimum)};
  if (setting.minimum.empty()) return {{}, fmt::format("must be at most {}", setting.maximum)};
  return {{}, fmt::format("must be between {} and {}", setting.minimum, setting.maximum)};
}

std::string format_value(const Setting& setting, const Value& value) {
  if (const auto* count = std::get_if<std::uint64_t>(&value)) {
    if (setting.type == SettingType::size) return format_size(*count);
    if (setting.type == SettingType::bandwidth) {
      const std::string size = format_size(*count);
      return is_digit(size.back()) ? size + "B/s" : size + "/s";
    }
    return fmt::format("{}", *count);
  }
  if (const auto* real = std::get_if<double>(&value))
    return setting.type == SettingType::size ? fmt::format("{:.6g}%", *real * 100) : fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::string(setting.unset_word);
}

std::optional<std::array<std::int32_t, 2>> parse_grid(std::string_view text) {
  std::array<std::int32_t, 2> numbers{};
  const char* const end = text.data() + text.size();
  const auto rows = std::from_chars(text.data(), end, numbers[0]);
  if (rows.ec != std::errc{} || rows.ptr == end || *rows.ptr != 'x') return std::nullopt;
  const auto columns = std::from_chars(rows.ptr + 1, end, numbers[1]);
  if (columns.ec != std::errc{} || columns.ptr != end || numbers[0] < 1 || numbers[1] < 1)
    return std::nullopt;
  return numbers;
}

namespace {
/// Also the former ones, with their mark.
std::vector<std::string_view> all_choices_of(const Setting& setting) {
  std::vector<std::string_view> words;
  for (std::string_view rest = setting.choices; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    words.push_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return words;
}

constexpr char former_mark = '=';
}  // namespace

std::vector<std::string_view> choices_of(const Setting& setting) {
  std::vector<std::string_view> words = all_choices_of(setting);
  std::erase_if(words, [](std::string_view word) { return word.starts_with(former_mark); });
  return words;
}

bool is_former_choice(const Setting& setting, std::string_view text) {
  return std::ranges::any_of(all_choices_of(setting), [&](std::string_view word) {
    return word.starts_with(former_mark) && word.substr(1) == text;
  });
}

std::string join(const std::vector<std::string_view>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

}  // namespace fairlead::config
