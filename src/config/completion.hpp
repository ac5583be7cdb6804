// Scripts by which a shell completes the words of a command with subcommands: generated from the declarations of its
// command lines, as the help is.
#pragma once
#include <fairlead/setting.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::config {

enum class Shell : std::uint8_t { bash, zsh, fish };

/// Words that the declarations do not have, such as the names of the policies.
struct CompletedWords {
  std::string_view name;          ///< the key of an option, or the name of a positional
  std::string_view subcommand{};  ///< the only one where it means this; empty: all
  std::vector<std::string_view> words{};
};

/// `commands`: the command lines of the subcommands, whose `program` is "fairlead solve" or, of two words, "fairlead jdf run".
/// Completes subcommands, options, choices, words of `known`, files and directories.
std::string completion_script(Shell shell, std::span<const CommandLine> commands,
                              std::span<const CompletedWords> known);

}  // namespace fairlead::config
