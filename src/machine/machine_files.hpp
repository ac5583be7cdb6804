// The machine files that come with Fairlead, and those of users.
#pragma once
#include <span>
#include <string_view>

#include "base/embedded_file.hpp"
#include "machine/description.hpp"

namespace fairlead::machine {

/// Those that come with it, by name.
std::span<const EmbeddedFile> machine_files();

/// `name_or_path`: one of them, or a file of the user's, which contains a slash or ends in ".toml". Throws
/// ConfigError, naming what comes nearest, and for what is wrong in the file.
MachineDescription find_machine(std::string_view name_or_path);

}  // namespace fairlead::machine
