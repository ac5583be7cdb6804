// One row of a table of settings or options: name, type, default, range and help text. The schema of Fairlead's
// settings and the options of each subcommand are such tables. The parser, the error messages, --help and the
// documentation page are generated from them.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace fairlead {

enum class SettingType : std::uint8_t {
  size,       // bytes: 4096, 512MiB, 2GB, 1.5GiB
  count,      // a non-negative integer
  real,       // a real number
  text,       // a name or a path
  choice,     // one word of a list
  flag,       // true or false; on the command line --key or --no-key
  bandwidth,  // bytes per second: 250MB/s
};

std::string_view name_of(SettingType type) noexcept;

/// The texts must outlive every Config made with them: use string literals.
struct Setting {
  std::string_view key{};  ///< --key, key = ... in the file, FAIRLEAD_KEY in the environment
  SettingType type = SettingType::text;
  std::string_view default_value{};  ///< the default, in command line syntax; empty: no value
  std::string_view unset_word{};     ///< the word for "no value", such as "auto"; empty: none
  std::string_view minimum{};        ///< in command line syntax; empty: none. Numbers only
  std::string_view maximum{};        ///< like `minimum`
  std::string_view choices{};        ///< for a choice: "auto|bar|lines"
  std::string_view value_name{};     ///< in --help: "DIRECTORY"; empty: derived from the type
  std::string_view help{};           ///< one line, without a full stop
  std::string_view unset_meaning{};  ///< the behaviour without a value, for the help
  std::string_view default_shown{};  ///< for the help, if the default depends on the environment
  std::string_view group{};          ///< the heading under which it is listed
  char letter = 0;                   ///< a short option: 'o' for -o
  bool advanced = false;             ///< `--help` omits it, `--help-all` lists it
  bool repeatable = false;           ///< a text that may be given several times; the value has one line for
                                     ///< each
};

/// The options in the help.
enum class HelpDetail : std::uint8_t {
  common,  // --help: those that most users need
  all,     // --help-all
};

/// A command line argument that is not an option.
struct Positional {
  std::string_view name{};  ///< "A.npy"
  std::string_view help{};
  bool required = true;
  bool repeated = false;  ///< any number of them; only for the last positional
};

/// One of Fairlead's settings, as a program takes it to which only some of them apply.
struct AcceptedSetting {
  std::string_view key{};
  std::string_view help{};     ///< its meaning in this program, with the default; empty: the schema's text
  std::string_view refused{};  ///< not empty: the setting is rejected, for this reason
};

/// The command line of a program, in addition to Fairlead's settings.
struct CommandLine {
  std::string_view program = "fairlead";  ///< as in "usage: fairlead solve ..."
  std::string_view summary{};
  std::span<const Positional> positionals{};
  std::span<const Setting> options{};  ///< command line only: neither in the file nor FAIRLEAD_*
  /// The settings of Fairlead that apply to this program. Others are rejected on the command line and do not appear in
  /// the help. Empty: all settings apply.
  std::span<const AcceptedSetting> settings{};
  bool config_lists = false;  ///< --config without a file is allowed: the program then lists its settings
};

}  // namespace fairlead
