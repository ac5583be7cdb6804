// Generates what users read about the settings from the schema: pages, and the options of a command line, which help_text()
// of config.hpp lists and completion.hpp completes.
#pragma once
#include <fairlead/setting.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::config {

/// The text of docs/configuration.md.
std::string configuration_page();

/// One option of a command line.
struct DescribedOption {
  Setting setting;
  std::string help;        ///< with the default; one line, without a full stop
  std::string value_name;  ///< "SIZE", "auto|bar|lines"; empty for flags
  bool own = true;         ///< of the program, and not a setting
  bool negatable = false;  ///< a flag that is on by default: --no-KEY
};
/// The program's own options, then the settings that it accepts, in the order of the schema. Without --config, --help and
/// --help-all, which all have.
std::vector<DescribedOption> options_of(const CommandLine& own);

struct ExitStatus {
  std::string_view number, meaning;
};
/// The manual page, fairlead(1), in the roff language with the macros of man(7). `commands`: the command lines of the
/// subcommands.
std::string manual_page(std::span<const CommandLine> commands, std::span<const ExitStatus> statuses,
                        std::string_view version);

}  // namespace fairlead::config
