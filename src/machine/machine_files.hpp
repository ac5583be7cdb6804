// Finds machine files: those included with Fairlead, and the user's own.
#pragma once
#include <span>
#include <string_view>

#include "base/embedded_file.hpp"
#include "machine/description.hpp"

namespace fairlead::machine {

/// The included machine files, by name.
std::span<const EmbeddedFile> built_in_machine_files();

/// `name_or_path`: the name of an included file, or a path, which contains a slash or ends in ".toml". Throws
/// ConfigError for an unknown name, with the nearest one, and for errors in the file.
MachineDescription load_machine(std::string_view name_or_path);

}  // namespace fairlead::machine
