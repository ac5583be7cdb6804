// Parses and formats values: sizes, shares, grids, and values of settings.
#pragma once
#include <fairlead/ids.hpp>
#include <fairlead/no_value.hpp>
#include <fairlead/setting.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fairlead::config {

/// A size: "512MiB", "2 GB", "1.5GiB", "4096", "1e9". Nothing if it is no size or exceeds 64 bits. A fraction of a byte
/// is truncated.
std::optional<Bytes> parse_size(std::string_view text);

/// A percentage, as a fraction: 0.5 for "50%". Nothing unless it is above 0% and at most 100%.
std::optional<double> parse_share(std::string_view text);

/// The shortest text that parse_size() parses to the same number: "512MiB", "2GB", "1234567".
std::string format_size(Bytes bytes);

/// A rounded size for output, with up to four digits: "23.5 GiB".
std::string readable_size(Bytes bytes);

/// "2x3": numbers of rows and columns. Nothing if these are not two positive integers.
std::optional<std::array<std::int32_t, 2>> parse_grid(std::string_view text);

/// A size may be a share (double) if the setting allows it: see ConfigBuilder::assign.
using Value = std::variant<NoValue, std::uint64_t, double, std::string, bool>;

/// A value, or an error message: "must be at least 1".
struct ParsedValue {
  Value value{};
  std::string error{};
};

/// Parses `text` as the setting's type and checks its range.
ParsedValue parse_value(const Setting& setting, std::string_view text);

/// A text that parse_value() parses to the same value.
std::string format_value(const Setting& setting, const Value& value);

/// The choices of a setting: "auto|bar|=line" as a list, without former names, which have a = and come last: they are
/// accepted, but not listed.
std::vector<std::string_view> choices_of(const Setting& setting);
bool is_former_choice(const Setting& setting, std::string_view text);

/// For example "auto, bar, lines".
std::string join(const std::vector<std::string_view>& words, std::string_view separator);

}  // namespace fairlead::config
