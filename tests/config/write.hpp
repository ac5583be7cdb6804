// Shared by the tests of settings: a directory of their own, and the text of what is thrown.
#pragma once
#include <fairlead/error.hpp>

#include "config/builder.hpp"

#include <gtest/gtest.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace fairlead {

/// A directory that is gone afterwards.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "fairlead-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory: " + name);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file, with the directories above it; returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

/// What the ConfigError says that `action` throws; a note if it throws none.
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
