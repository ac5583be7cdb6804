// Finds and reads the configuration file, in TOML.
#pragma once
#include "config/builder.hpp"

#include <optional>
#include <string>

namespace fairlead::config {

struct ConfigFile {
  std::string path;
  /// "--config" or "FAIRLEAD_CONFIG"; empty for the default path, where the file is optional
  std::string source;
};

/// The first of: --config FILE, FAIRLEAD_CONFIG, $XDG_CONFIG_HOME/fairlead/config.toml (without the variable in
/// ~/.config) if it exists. The word "none" as the path means no file. The working directory is not searched: a run
/// should not depend on it.
std::optional<ConfigFile> locate_config_file(const std::optional<std::string>& option,
                                             const Environment& environment);

/// Reads the file into `config`. Throws ConfigError with the file and the line.
void read_file(const ConfigFile& file, Config& config);

/// $VARIABLE/fairlead, or ~/`otherwise`/fairlead; nothing if neither is known. Relative paths are ignored (XDG Base
/// Directory Specification).
std::optional<std::string> xdg_directory(const Environment& environment, std::string_view variable,
                                         std::string_view otherwise);

}  // namespace fairlead::config
