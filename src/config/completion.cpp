// See completion.hpp.
#include "config/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/help.hpp"
#include "config/value.hpp"

namespace fairlead::config {

namespace {

constexpr std::string_view program = "fairlead";

/// What may follow an option, or stand where a positional does.
struct CompletedValue {
  enum class Kind : std::uint8_t {
    none,       // a flag: no value
    any,        // a number or a name: the user's
    words,      // one of a list
    file,       // a path
    directory,  // a path of a directory
  };
  Kind kind = Kind::any;
  std::vector<std::string_view> words{};
};
using Kind = CompletedValue::Kind;

struct CompletedOption {
  std::vector<std::string> spellings;  ///< "--output", "-o"
  std::string help;
  CompletedValue value;
};

struct CompletedCommand {
  std::string_view name;  ///< one word, or two
  std::string_view summary;
  std::vector<CompletedOption> options;
  std::vector<CompletedValue> positionals;
};

CompletedValue value_of(std::string_view subcommand, std::string_view name, std::string_view shown,
                        std::span<const CompletedWords> known) {
  for (const CompletedWords& one : known)
    if (one.name == name && (one.subcommand.empty() || one.subcommand == subcommand))
      return {Kind::words, one.words};
  if (shown == "DIRECTORY") return {Kind::directory};
  const bool is_path = shown == "FILE" || shown == "LIBRARY" || shown.find('.') != std::string_view::npos;
  return {is_path && shown.find('=') == std::string_view::npos ? Kind::file : Kind::any};
}

std::vector<CompletedOption> completed_options(const CommandLine& line, std::string_view subcommand,
                                               std::span<const CompletedWords> known) {
  std::vector<CompletedOption> options;
  for (DescribedOption& option : options_of(line)) {
    const Setting& setting = option.setting;
    std::ranges::replace(option.help, '\t', ' ');
    CompletedOption completed{{fmt::format("--{}", setting.key)}, std::move(option.help), {}};
    if (option.negatable) completed.spellings.push_back(fmt::format("--no-{}", setting.key));
    if (setting.letter) completed.spellings.push_back(fmt::format("-{}", setting.letter));
    if (setting.type == SettingType::choice)
      completed.value = {Kind::words, choices_of(setting)};
    else
      completed.value = setting.type == SettingType::flag
                            ? CompletedValue{Kind::none}
                            : value_of(subcommand, setting.key, option.value_name, known);
    options.push_back(std::move(completed));
  }
  options.push_back({{"--config"}, "read settings from this file", {Kind::file}});
  options.push_back({{"--help", "-h"}, "show the common options", {Kind::none}});
  options.push_back({{"--help-all"}, "show all options", {Kind::none}});
  return options;
}

/// Whether it is the second word of a subcommand, which must be completed after the first.
bool has_two_words(const CompletedCommand& command) {
  return command.name.find(' ') != std::string_view::npos;
}

/// Words that may stand first, or after the first word of a subcommand of two.
std::vector<std::string_view> next_words(std::span<const CompletedCommand> commands, std::string_view first) {
  std::vector<std::string_view> words;
  for (const CompletedCommand& command : commands) {
    const std::size_t space = command.name.find(' ');
    if (first.empty() && space == std::string_view::npos) words.push_back(command.name);
    if (!first.empty() && space != std::string_view::npos && command.name.substr(0, space) == first)
      words.push_back(command.name.substr(space + 1));
  }
  return words;
}

std::vector<CompletedCommand> completed_commands(std::span<const CommandLine> lines,
                                                 std::span<const CompletedWords> known) {
  std::vector<CompletedCommand> commands;
  for (const CommandLine& line : lines) {
    const std::string_view name = line.program.substr(program.size() + 1);
    CompletedCommand command{name, line.summary, completed_options(line, name, known), {}};
    for (const Positional& positional : line.positionals)
      command.positionals.push_back(value_of(name, positional.name, positional.name, known));
    commands.push_back(std::move(command));
  }
  // The second word of a subcommand stands where the first positional of the one-word subcommand does.
  for (CompletedCommand& command : commands) {
    const std::vector<std::string_view> words = next_words(commands, command.name);
    if (words.empty()) continue;
    if (command.positionals.empty()) command.positionals.emplace_back();
    CompletedValue& first = command.positionals.front();
    first.kind = Kind::words;
    first.words.insert(first.words.end(), words.begin(), words.end());
  }
  // A script looks for "jdf run" before "jdf".
  std::stable_partition(commands.begin(), commands.end(), has_two_words);
  return commands;
}

std::vector<std::string> all_spellings(const CompletedCommand& command) {
  std::vector<std::string> all;
  for (const CompletedOption& option : command.options)
    all.insert(all.end(), option.spellings.begin(), option.spellings.end());
  return all;
}

/// In single quotes, for sh and zsh.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char character : text)
    out += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return out + "'";
}

std::string bash_action(const CompletedValue& value) {
  switch (value.kind) {
    case Kind::words:
      return fmt::format("words={}", in_quotes(join(value.words, " ")));
    case Kind::file:
      return "paths=files";
    case Kind::directory:
      return "paths=directories";
    case Kind::none:
    case Kind::any:
      break;
  }
  return ":";
}

std::string bash_script(std::span<const CompletedCommand> commands) {
  std::string out = fmt::format(R"(# Completion for bash, by: {0} completion bash
_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} words='' paths='' options='' of_option=yes
  # --key=value is three words.
  if [[ $current == = ]]; then current=''; elif [[ $previous == = ]]; then previous=${{COMP_WORDS[COMP_CWORD - 2]}}; fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '{1} --help --version' -- "$current")
    return
  fi
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}} " in
)",
                                program, fmt::join(next_words(commands, {}), " "));
  for (const CompletedCommand& command : commands) {
    out += fmt::format("    {}*)\n      options={}\n      case $previous in\n",
                       in_quotes(fmt::format("{} ", command.name)),
                       in_quotes(fmt::format("{}", fmt::join(all_spellings(command), " "))));
    for (const CompletedOption& option : command.options)
      if (option.value.kind != Kind::none)
        out +=
            fmt::format("        {}) {} ;;\n", fmt::join(option.spellings, "|"), bash_action(option.value));
    std::vector<std::string_view> words;
    bool files = false;
    for (const CompletedValue& positional : command.positionals) {
      words.insert(words.end(), positional.words.begin(), positional.words.end());
      files |= positional.kind == Kind::file;
    }
    out += fmt::format("        *) words={} paths={} of_option='' ;;\n      esac\n      ;;\n",
                       in_quotes(join(words, " ")), files ? "files" : "''");
  }
  out += fmt::format(R"(  esac
  if [[ $current == -* && -z $of_option ]]; then words=$options paths=''; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  case $paths in
    files) mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$current") ;;
    directories) mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -d -- "$current") ;;
  esac
  [[ -z $paths ]] || compopt -o filenames 2>/dev/null
}}
complete -F _{0} {0}
)",
                     program);
  return out;
}

/// In the specifications of _arguments, these characters separate parts.
std::string escaped_for_zsh(std::string_view text) {
  std::string out;
  for (const char character : text) {
    if (std::string_view("[]:\\").find(character) != std::string_view::npos) out += '\\';
    out += character;
  }
  return out;
}

std::string zsh_action(const CompletedValue& value) {
  switch (value.kind) {
    case Kind::words: {
      std::vector<std::string> words;
      for (const std::string_view word : value.words) words.push_back(escaped_for_zsh(word));
      return fmt::format("({})", fmt::join(words, " "));
    }
    case Kind::file:
      return "_files";
    case Kind::directory:
      return "_files -/";
    case Kind::none:
    case Kind::any:
      break;
  }
  return " ";
}

std::string zsh_script(std::span<const CompletedCommand> commands) {
  std::string out =
      fmt::format("#compdef {0}\n# Completion for zsh, by: {0} completion zsh\n_{0}() {{\n", program);
  out += "  if ((CURRENT == 2)); then\n    local -a subcommands=(\n";
  for (const CompletedCommand& command : commands)
    if (!has_two_words(command))
      out += fmt::format("      {}\n",
                         in_quotes(fmt::format("{}:{}", command.name, escaped_for_zsh(command.summary))));
  out +=
      "    )\n    _describe subcommand subcommands\n    return\n  fi\n  case \"$words[2] $words[3] \" in\n";
  for (const CompletedCommand& command : commands) {
    const bool two = has_two_words(command);
    out += fmt::format("    {}*)\n      shift {} words\n      ((CURRENT -= {}))\n      _arguments",
                       in_quotes(fmt::format("{} ", command.name)), two ? 2 : 1, two ? 2 : 1);
    for (const CompletedOption& option : command.options)
      for (const std::string& spelling : option.spellings) {
        const bool takes_value = option.value.kind != Kind::none;
        const std::string_view joined = !takes_value ? "" : spelling.starts_with("--") ? "=" : "+";
        std::string specification = fmt::format("*{}{}[{}]", spelling, joined, escaped_for_zsh(option.help));
        if (takes_value) specification += fmt::format(":value:{}", zsh_action(option.value));
        out += fmt::format(" \\\n        {}", in_quotes(specification));
      }
    for (const CompletedValue& positional : command.positionals)
      out += fmt::format(
          " \\\n        {}",
          in_quotes(fmt::format("{}:argument:{}", &positional == &command.positionals.back() ? "*" : "",
                                zsh_action(positional))));
    out += "\n      ;;\n";
  }
  return out + fmt::format(
                   "  esac\n}}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then _{0} \"$@\"; else "
                   "compdef _{0} {0}; fi\n",
                   program);
}

/// In single quotes, for fish.
std::string in_fish_quotes(std::string_view text) {
  std::string out = "'";
  for (const char character : text) {
    if (character == '\'' || character == '\\') out += '\\';
    out += character;
  }
  return out + "'";
}

std::string fish_script(std::span<const CompletedCommand> commands) {
  std::string out = fmt::format(R"(# Completion for fish, by: {0} completion fish
# Whether the command line has this subcommand, and not a longer one of the names after it.
function __{0}_is
  set -l line (string join -- ' ' (commandline -opc)[2..3])' '
  string match -q -- "$argv[1] *" $line; or return 1
  for longer in $argv[2..]
    string match -q -- "$longer *" $line; and return 1
  end
  return 0
end
complete -c {0} -f
)",
                                program);
  for (const CompletedCommand& command : commands) {
    if (!has_two_words(command))
      out += fmt::format("complete -c {} -n __fish_is_first_arg -a {} -d {}\n", program, command.name,
                         in_fish_quotes(command.summary));
    std::string condition = fmt::format("__{}_is {}", program, in_fish_quotes(command.name));
    const std::vector<std::string_view> following = next_words(commands, command.name);
    for (const std::string_view word : following)
      condition += fmt::format(" {}", in_fish_quotes(fmt::format("{} {}", command.name, word)));
    const std::string begin = fmt::format("complete -c {} -n {}", program, in_fish_quotes(condition));
    for (const CompletedOption& option : command.options) {
      out += begin;
      for (const std::string& spelling : option.spellings)
        out += spelling.starts_with("--") ? fmt::format(" -l {}", spelling.substr(2))
                                          : fmt::format(" -s {}", spelling.substr(1));
      if (option.value.kind != Kind::none) out += " -r";
      if (option.value.kind == Kind::file) out += " -F";
      if (option.value.kind == Kind::directory) out += " -a '(__fish_complete_directories)'";
      if (option.value.kind == Kind::words)
        out += fmt::format(" -a {}", in_fish_quotes(join(option.value.words, " ")));
      out += fmt::format(" -d {}\n", in_fish_quotes(option.help));
    }
    for (const CompletedValue& positional : command.positionals) {
      if (positional.kind == Kind::file) out += begin + " -F\n";
      if (positional.kind == Kind::words)
        out += fmt::format("{} -a {}\n", begin, in_fish_quotes(join(positional.words, " ")));
    }
  }
  return out;
}

}  // namespace

std::string completion_script(Shell shell, std::span<const CommandLine> lines,
                              std::span<const CompletedWords> known) {
  const std::vector<CompletedCommand> commands = completed_commands(lines, known);
  switch (shell) {
    case Shell::bash:
      return bash_script(commands);
    case Shell::zsh:
      return zsh_script(commands);
    case Shell::fish:
      break;
  }
  return fish_script(commands);
}

}  // namespace fairlead::config
