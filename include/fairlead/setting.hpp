// One row of a table of settings or options: its name, type, default, range and line of help. The schema of
// Fairlead's settings and the options of each subcommand are such tables; parsing, messages, --help and the
// page of documentation all come from them.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace fairlead {

enum class SettingType : std::uint8_t {
  size,       // bytes: 4096, 512MiB, 2GB, 1.5GiB
  count,      // a whole number, not negative
  real,       // a number
  text,       // a name or a path
  choice,     // one word of a list
  flag,       // true or false; on the command line --key or --no-key
  bandwidth,  // bytes per second: 250MB/s
};

std::string_view name_of(SettingType type) noexcept;

/// The texts must outlive every Config made with them: write literals.
struct Setting {
  std::string_view key{};  ///< --key, key = ... in the file, FAIRLEAD_KEY in the environment
  SettingType type = SettingType::text;
  std::string_view fallback{};       ///< the default, as one would write it; empty: no value
  std::string_view absent{};         ///< the word that means "no value", as in "auto"; empty: none
  std::string_view minimum{};        ///< as one would write it; empty: none. Numbers only
  std::string_view maximum{};        ///< likewise
  std::string_view choices{};        ///< for a choice: "auto|bar|lines"
  std::string_view value_name{};     ///< in --help: "DIRECTORY"; empty: by the type
  std::string_view help{};           ///< one line, without a full stop
  std::string_view absent_means{};   ///< what happens without a value, for the help
  std::string_view default_shown{};  ///< for the help, where the default depends on the environment
  std::string_view group{};          ///< the heading under which it is listed
  char letter = 0;                   ///< a short spelling for the command line: 'o' for -o
  bool repeatable = false;           ///< a text that may be given several times: its values, a line each
};

/// An argument of a command line that is not an option.
struct Positional {
  std::string_view name{};  ///< "A.npy"
  std::string_view help{};
  bool required = true;
  bool repeated = false;  ///< the last one only: any number of them
};

/// One of Fairlead's settings as a program takes it for which not all of them mean something.
struct TakenSetting {
  std::string_view key{};
  std::string_view help{};     ///< what it means here, with its default; empty: what it means elsewhere
  std::string_view refused{};  ///< not empty: it is not taken, and this is why
};

/// What a program's command line takes besides Fairlead's settings.
struct CommandLine {
  std::string_view program = "fairlead";  ///< as in "usage: fairlead solve ..."
  std::string_view summary{};
  std::span<const Positional> positionals{};
  std::span<const Setting> options{};  ///< known on the command line only: neither in the file nor FAIRLEAD_*
  /// Which of Fairlead's settings say something here: others are refused on the command line, and not in the
  /// help. Empty: all.
  std::span<const TakenSetting> settings{};
  bool config_lists = false;  ///< --config may stand without a file: the program then lists settings
};

}  // namespace fairlead
