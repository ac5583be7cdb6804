// See machine_files.hpp.
#include "machine/machine_files.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/suggest.hpp"

namespace fairlead::machine {

MachineDescription load_machine(std::string_view name_or_path) {
  if (name_or_path.find('/') != name_or_path.npos || name_or_path.ends_with(".toml")) {
    const std::string path(name_or_path);
    const auto text = read_file(path);
    if (!text)
      throw ConfigError(fmt::format("cannot read {}: {}", path, std::generic_category().message(errno)));
    return read_machine(*text, path);
  }
  const auto found = std::ranges::find(built_in_machine_files(), name_or_path, &EmbeddedFile::name);
  if (found != built_in_machine_files().end())
    return read_machine(found->text, fmt::format("machines/{}.toml", found->name));
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : built_in_machine_files()) names.push_back(file.name);
  throw ConfigError(fmt::format("unknown machine \"{}\"{}; there are {}, or the path of a file", name_or_path,
                                did_you_mean(name_or_path, names), fmt::join(names, ", ")));
}

}  // namespace fairlead::machine
