// FAIRLEAD_* variables, and those that are not Fairlead's own.
#pragma once
#include "config/builder.hpp"

namespace fairlead::config {

/// FAIRLEAD_DISK_BANDWIDTH for disk-bandwidth.
std::string variable_of(std::string_view key);

/// Reads the variables into `config`. ConfigError for one that begins with FAIRLEAD_ and is no setting.
void read_environment(const Environment& environment, Config& config);

/// The system's C compiler, with its first arguments: the variable CC, else cc.
std::string c_compiler(const Environment& environment);

}  // namespace fairlead::config
