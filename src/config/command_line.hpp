// Splits the command line into options and their texts. Values are parsed later, after those of sources with lower
// precedence.
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
  std::string_view key;  ///< of the setting, possibly a former one
  std::string text;
  std::string name;        ///< "--tile"
  std::string as_written;  ///< "--tile 0"
};

struct SplitCommandLine {
  std::vector<GivenOption> options;  ///< a repeated option has its last value
  std::vector<std::string> positionals;
  std::optional<std::string> config_file;  ///< --config FILE
  bool list_config = false;                ///< --config was given, with or without a file
  bool help = false;
  HelpDetail help_detail = HelpDetail::common;
};

/// Splits `arguments` by the settings and the program's own options. Throws ConfigError for an unknown option (with the
/// nearest name), for a missing value, and for too many or too few positionals.
SplitCommandLine split_command_line(const std::vector<std::string>& arguments, const CommandLine& own,
                                    std::span<const Setting> settings);

/// Throws ConfigError if the program does not use this setting; `name` is the option as written. Options of the program
/// itself are always accepted.
void require_accepted(const CommandLine& own, std::string_view key, std::string_view name);

}  // namespace fairlead::config
