// Finding a machine file.
#include "machine/machine_files.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/suggest.hpp"

namespace fairlead::machine {

MachineDescription find_machine(std::string_view name_or_path) {
  if (name_or_path.find('/') != name_or_path.npos || name_or_path.ends_with(".toml")) {
    const std::string path(name_or_path);
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    // An empty file is read, and then lacks what a machine has; a folder can be opened, but not read.
    const bool empty = stream && stream.peek() == std::ifstream::traits_type::eof() && errno == 0;
    if (!empty && (!stream || !(text << stream.rdbuf())))
      throw ConfigError(
          fmt::format("cannot read {}: {}", path, std::generic_category().message(errno != 0 ? errno : EIO)));
    return read_machine(text.str(), path);
  }
  const auto found = std::ranges::find(machine_files(), name_or_path, &MachineFile::name);
  if (found != machine_files().end())
    return read_machine(found->text, fmt::format("machines/{}.toml", found->name));
  std::vector<std::string_view> names;
  for (const MachineFile& file : machine_files()) names.push_back(file.name);
  throw ConfigError(fmt::format("unknown machine \"{}\"{}; there are {}, or the path of a file", name_or_path,
                                did_you_mean(name_or_path, names), fmt::join(names, ", ")));
}

}  // namespace fairlead::machine
