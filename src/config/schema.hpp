// The table of all settings. To add a setting, add a row in schema.cpp.
#pragma once
#include <fairlead/setting.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace fairlead::config {

std::span<const Setting> schema() noexcept;

/// The settings for CommandLine::settings of a program that uses the library: all settings of a runtime, and those in
/// `heeded`, which the program uses itself. Throws UsageError if one is no setting.
std::vector<AcceptedSetting> settings_of_programs(std::span<const std::string_view> heeded);

}  // namespace fairlead::config
