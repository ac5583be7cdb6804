// The configuration file, TOML: which one it is, and what it says.
#pragma once
#include "config/builder.hpp"

#include <optional>
#include <string>

namespace fairlead::config {

struct ConfigFile {
  std::string path;
  std::string named_by;  ///< "--config", "FAIRLEAD_CONFIG"; empty: the usual place, where none is needed
};

/// --config FILE, else FAIRLEAD_CONFIG, else $XDG_CONFIG_HOME/fairlead/config.toml (without the variable,
/// ~/.config) if there is one. The word "none" in place of a path: no file. The working directory is not
/// looked at: what a run does should not depend on whose directory one stands in.
std::optional<ConfigFile> find_file(const std::optional<std::string>& option, const Environment& environment);

/// Reads the file into `config`. ConfigError names the file and the line.
void read_file(const ConfigFile& file, Config& config);

/// $VARIABLE/fairlead, or ~/`otherwise`/fairlead; nothing if neither is known. Relative paths are not
/// heeded (XDG Base Directory Specification).
std::optional<std::string> xdg_directory(const Environment& environment, std::string_view variable,
                                         std::string_view otherwise);

}  // namespace fairlead::config
