// Settings from FAIRLEAD_* variables, and other environment variables.
#pragma once
#include "config/builder.hpp"

namespace fairlead::config {

/// The variable of a setting: FAIRLEAD_DISK_BANDWIDTH for disk-bandwidth.
std::string variable_of(std::string_view key);

/// Reads the variables into `config`. Throws ConfigError for one that starts with FAIRLEAD_ and is not a
/// setting.
void read_environment(const Environment& environment, Config& config);

/// The system's C compiler, with its first arguments: the variable CC, or "cc" without it.
std::string c_compiler(const Environment& environment);

}  // namespace fairlead::config
