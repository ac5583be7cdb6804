// Whether a setting was given a value. One in a file or in the environment may be meant for other runs; one on the command
// line is meant for this run.
#pragma once
#include <fairlead/config.hpp>

#include <algorithm>
#include <string_view>

namespace fairlead::config {

/// Whether the setting has a value other than by default.
inline bool is_set(const Config& config, std::string_view key) {
  return std::ranges::any_of(config.report(), [&](const SettingReport& row) {
    return row.setting.key == key && row.origin != Origin::default_value;
  });
}

inline bool is_on_command_line(const Config& config, std::string_view key) {
  return std::ranges::any_of(config.report(), [&](const SettingReport& row) {
    return row.setting.key == key && row.origin == Origin::command_line;
  });
}

}  // namespace fairlead::config
