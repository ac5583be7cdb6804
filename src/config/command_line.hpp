// The command line, split into what was given for which option; values are read later, after those of
// weaker sources.
#pragma once
#include <fairlead/setting.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::config {

struct GivenOption {
  const Setting* setting = nullptr;
  std::string text;
  std::string name;     ///< "--tile"
  std::string written;  ///< "--tile 0"
};

struct SplitCommandLine {
  std::vector<GivenOption> options;  ///< of an option given twice the last, as everywhere
  std::vector<std::string> positionals;
  std::optional<std::string> config_file;  ///< --config FILE
  bool config = false;                     ///< --config was given, with or without a file
  bool help = false;
};

/// Splits `arguments` by the settings and the program's own options. ConfigError for an unknown option, with
/// the nearest one, for an option that lacks its value, and for too many or too few positionals.
SplitCommandLine split_command_line(const std::vector<std::string>& arguments, const CommandLine& own,
                                    std::span<const Setting> settings);

/// Throws ConfigError if the setting was given to a program to which it says nothing; `name`: as it was
/// given. Options of the program itself are none.
void require_taken(const CommandLine& own, std::string_view key, std::string_view name);

}  // namespace fairlead::config
