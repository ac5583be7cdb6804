// Values as people write them: text to value and back.
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

/// "512MiB", "2 GB", "1.5GiB", "4096", "1e9". Nothing if it is not a size or exceeds 64 bits; parts of a byte
/// are cut off.
std::optional<Bytes> parse_size(std::string_view text);

/// "50%" of what there is: 0.5. Nothing if it is not a share above nothing and up to 100%.
std::optional<double> parse_share(std::string_view text);

/// The shortest text that parse_size() turns into exactly the same number: "512MiB", "2GB", "1234567".
std::string format_size(Bytes bytes);

/// For people, to three or four digits: "23.5 GiB". Not exact.
std::string readable_size(Bytes bytes);

/// "2x3": rows and columns of something. Nothing if it is not two whole numbers above zero.
std::optional<std::array<std::int32_t, 2>> parse_grid(std::string_view text);

/// A size may be a share (double) where a setting allows it: see ConfigBuilder::assign.
using Value = std::variant<NoValue, std::uint64_t, double, std::string, bool>;

/// A value, or what is wrong with the text: "must be at least 1".
struct Reading {
  Value value{};
  std::string problem{};
};

/// Reads `text` as the setting's type and checks its range.
Reading read_value(const Setting& setting, std::string_view text);

/// The text that read_value() turns into the same value.
std::string write_value(const Setting& setting, const Value& value);

/// The choices of a setting: "auto|bar" as a list.
std::vector<std::string_view> choices_of(const Setting& setting);

/// "auto, bar, lines"
std::string join(const std::vector<std::string_view>& words, std::string_view separator);

}  // namespace fairlead::config
