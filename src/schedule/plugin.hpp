// Policies that are not compiled into Fairlead: shared objects that `--scheduler` names by their path.
#pragma once
#include <string_view>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// Whether that names a file and not one of the list: it contains '/' or ends in ".so".
bool is_plugin(std::string_view name) noexcept;

/// The entry of the plug-in in that file, which stays loaded until the program ends: what its policy throws
/// may outlive the policy. A path without '/' is one in the current folder; the folders of libraries are not
/// searched. Throws ConfigError if there is no such file, it cannot be loaded, is no plug-in, or was compiled
/// against another interface.
const PolicyEntry& load_plugin(std::string_view path);

}  // namespace fairlead::schedule
