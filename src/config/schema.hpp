// The table of all settings. To add a setting, add a row in schema.cpp.
#pragma once
#include <fairlead/setting.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace fairlead::config {

std::span<const Setting> schema() noexcept;

/// A former name of a setting, accepted in 0.2 (docs/compatibility.md).
struct RenamedSetting {
  std::string_view former, current;
};
std::span<const RenamedSetting> renamed_settings() noexcept;
/// The name of the setting that had the name `key`; any other key as it is.
std::string_view current_key(std::string_view key) noexcept;

/// The value of CommandLine::settings for a program that uses the library: all settings of a runtime, and
/// those in `own_keys`, which the program evaluates itself. Throws UsageError if one of them is not a
/// setting.
std::vector<AcceptedSetting> accepted_settings(std::span<const std::string_view> own_keys);

}  // namespace fairlead::config
