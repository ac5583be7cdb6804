// Policies that are not compiled into Fairlead: shared objects that `--scheduler` names by their path.
#pragma once
#include <string_view>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// True if the name is that of a file, not of a built-in policy: it contains '/' or ends in ".so".
bool is_plugin(std::string_view name) noexcept;

/// The entry of the plug-in in that file. The library stays loaded until the program exits, since exceptions of its
/// policy may outlive the policy. A path without '/' refers to the current folder; library search paths are not used.
/// Throws ConfigError if the file does not exist, cannot be loaded, is not a plug-in, or was compiled against another
/// interface.
const PolicyEntry& load_plugin(std::string_view path);

}  // namespace fairlead::schedule
