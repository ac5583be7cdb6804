// The settings of one runtime: a value for each key of a schema, and the origin of each value. Later sources override
// earlier ones: default < configuration file < environment (FAIRLEAD_*) < command line < code. An unknown key, a wrong
// type or a value out of range throws ConfigError, which names the value, where it was set, and the nearest valid key.
// Nothing is ignored silently.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/no_value.hpp>
#include <fairlead/setting.hpp>
#include <fairlead/source_line.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fairlead {

/// The origin of a value, in increasing precedence.
enum class Origin : std::uint8_t { default_value, file, environment, command_line, code };

std::string_view name_of(Origin origin) noexcept;

/// Thrown by Config::from_args() for `--help` and `--help-all`; what() is the help text. Not an error.
class HelpRequested : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// A setting with its value, as `fairlead info --config` prints it.
struct SettingReport {
  Setting setting;
  std::string value;  ///< as on the command line; the setting's word for "none" if it has no value
  Origin origin = Origin::default_value;
  std::string where;  ///< "config.toml:3", "FAIRLEAD_TILE", "--tile", "solver.cpp:41"; empty for defaults
  std::string former_name;  ///< the former name of the setting, if it was given by that
};

struct ParsedCommandLine;

class Config {
 public:
  /// The defaults only: no file, no environment.
  Config();

  /// Defaults, configuration file and environment: for a library inside another program.
  static Config from_environment();

  /// The same, then the command line of a program that has only Fairlead's options. Throws ConfigError for
  /// anything unknown, HelpRequested for --help and --help-all. Options without an effect on a runtime (tile,
  /// blas, blas-coretype, progress, json) are rejected, unless the program evaluates them itself and lists
  /// them in `own_keys`: from_args(argc, argv, {"tile"}). The file and the environment, which all programs
  /// share, may contain them.
  static Config from_args(int argc, const char* const* argv,
                          std::initializer_list<std::string_view> own_keys = {});

  /// The same for a program with its own options and positional arguments; see ParsedCommandLine.
  static ParsedCommandLine parse(int argc, const char* const* argv, const CommandLine& own);

  /// Sets a value from code, in command line syntax: set("memory", "512MiB").
  void set(std::string_view key, std::string_view text, SourceLine line = SourceLine::current());
  template <std::integral Number>
  void set(std::string_view key, Number value, SourceLine line = SourceLine::current()) {
    if constexpr (std::same_as<Number, bool>)
      set(key, std::string_view(value ? "true" : "false"), line);
    else
      set(key, std::string_view(std::to_string(value)), line);
  }
  void set(std::string_view key, double value, SourceLine line = SourceLine::current());

  /// True if the setting has a value. Some settings have none by default ("auto", "unlimited", "none").
  bool has(std::string_view key) const;

  // Return the value of a setting of the given type. Throw UsageError if the setting has another type or no value,
  // ConfigError if the key does not exist.
  Bytes bytes(std::string_view key) const;
  std::uint64_t count(std::string_view key) const;
  double real(std::string_view key) const;
  const std::string& text(std::string_view key) const;  ///< type text or choice
  bool flag(std::string_view key) const;
  std::uint64_t bandwidth_bytes_per_second(std::string_view key) const;

  // The same, or `otherwise` if the setting has no value.
  Bytes bytes_or(std::string_view key, Bytes otherwise) const;
  std::uint64_t count_or(std::string_view key, std::uint64_t otherwise) const;
  std::string text_or(std::string_view key, std::string_view otherwise) const;

  /// For settings whose choices the schema does not have (the scheduling policies). Throws ConfigError, with the origin
  /// of the value and the nearest choice, unless the value is in `choices` or absent.
  void require_one_of(std::string_view key, std::span<const std::string_view> choices) const {
    require_one_of(key, choices, has(key) ? std::string_view(text(key)) : std::string_view());
  }
  /// The same if only a part of the value, `chosen`, must be in `choices`.
  void require_one_of(std::string_view key, std::span<const std::string_view> choices,
                      std::string_view chosen) const;

  /// The value in command line syntax, or the setting's word for "none".
  std::string written(std::string_view key) const;

  /// All settings, in the schema's order, then the program's own options.
  std::vector<SettingReport> report() const;

 private:
  friend struct ConfigBuilder;  // src/config/builder.hpp: fills a Config from its sources

  using Value = std::variant<NoValue, std::uint64_t, double, std::string, bool>;
  struct Entry {
    Setting setting;
    Value value;
    Origin origin = Origin::default_value;
    std::string where;        // as in SettingReport
    std::string written;      // the setting and value as given, for messages: "--tile 0"
    std::string former_name;  // as in SettingReport
  };
  const Entry& entry(std::string_view key) const;
  Entry& entry(std::string_view key);
  template <class T>
  const T& value(std::string_view key, std::initializer_list<SettingType> types) const;

  std::vector<Entry> entries_;
};

/// The result of Config::parse().
struct ParsedCommandLine {
  Config config;                         ///< the settings, followed by the program's own options
  std::vector<std::string> positionals;  ///< at most as many as CommandLine::positionals allows
  /// --help or --help-all was given: positionals are not checked; print help_text().
  bool help = false;
  HelpDetail help_detail = HelpDetail::common;
  bool list_config = false;  ///< --config was given; only if CommandLine::config_lists is set
};

/// The output of `--help` or `--help-all`: usage, positionals, the program's own options, then the settings. At most `width`
/// columns.
std::string help_text(const CommandLine& own, HelpDetail detail = HelpDetail::common, unsigned width = 100);

}  // namespace fairlead
