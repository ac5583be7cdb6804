// Shared by the tests of settings: the text of an exception, and one setting's row.
#pragma once
#include <fairlead/error.hpp>

#include "config/builder.hpp"
#include "temporary_directory.hpp"

#include <gtest/gtest.h>
#include <string>

namespace fairlead {

using tests::TemporaryDirectory;

/// The text of the ConfigError that `action` throws; a note if it throws none.
template <class Action>
std::string mistake(Action action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

inline Config config_of(std::vector<std::string> arguments, config::Environment environment = {}) {
  return config::parse({std::move(arguments), std::move(environment)}, {}).config;
}

/// The one row of the report for `key`.
inline SettingReport report_of(const Config& config, std::string_view key) {
  for (SettingReport& row : config.report())
    if (row.setting.key == key) return row;
  throw std::runtime_error("no such key");
}

}  // namespace fairlead
