// The settings of one runtime: a value for each key of one schema, and where each value came from.
// Later sources win: default < configuration file < environment (FAIRLEAD_*) < command line < code.
// Whatever is unknown, of the wrong type or out of range is a ConfigError that names it, says where it was
// written, and which valid key is nearest: nothing is ignored silently.
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

/// Where a value came from, the weakest first.
enum class Origin : std::uint8_t { default_value, file, environment, command_line, code };

std::string_view name_of(Origin origin) noexcept;

/// What `--help` asks for, thrown by Config::from_args(): what() is the text. Not a mistake.
class HelpRequested : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// A setting with its value, for people: `fairlead info --config` prints these.
struct SettingReport {
  Setting setting;
  std::string value;  ///< as one would write it; the setting's word for "none" if it has no value
  Origin origin = Origin::default_value;
  std::string where;  ///< "config.toml:3", "FAIRLEAD_TILE", "--tile", "solver.cpp:41"; empty for defaults
};

struct ParsedCommandLine;

class Config {
 public:
  /// The defaults alone: no file, no environment.
  Config();

  /// Defaults, configuration file and environment: for a library inside someone else's program.
  static Config from_environment();

  /// The same, then the command line of a program whose options are Fairlead's alone. Throws ConfigError for
  /// anything it does not know, HelpRequested for --help. Options that say nothing to a runtime (tile, blas,
  /// blas-coretype, progress, json) are refused unless the program itself heeds them, and says so by
  /// `heeded`: from_args(argc, argv, {"tile"}). In the file and the environment, which are for all programs,
  /// they may stand.
  static Config from_args(int argc, const char* const* argv,
                          std::initializer_list<std::string_view> heeded = {});

  /// The same for a program with options and positional arguments of its own; see ParsedCommandLine.
  static ParsedCommandLine parse(int argc, const char* const* argv, const CommandLine& own);

  /// Sets a value from code, as text in the form of the command line: set("memory", "512MiB").
  void set(std::string_view key, std::string_view text, SourceLine line = SourceLine::current());
  template <std::integral Number>
  void set(std::string_view key, Number value, SourceLine line = SourceLine::current()) {
    if constexpr (std::same_as<Number, bool>)
      set(key, std::string_view(value ? "true" : "false"), line);
    else
      set(key, std::string_view(std::to_string(value)), line);
  }
  void set(std::string_view key, double value, SourceLine line = SourceLine::current());

  /// Whether the setting has a value. One without has none by default ("auto", "unlimited", "none").
  bool has(std::string_view key) const;

  // The value of a setting of that type. They throw UsageError if the setting is of another type or has no
  // value, ConfigError if there is no such key.
  Bytes bytes(std::string_view key) const;                               ///< size
  std::uint64_t count(std::string_view key) const;                       ///< count
  double real(std::string_view key) const;                               ///< real
  const std::string& text(std::string_view key) const;                   ///< text or choice
  bool flag(std::string_view key) const;                                 ///< flag
  std::uint64_t bandwidth_bytes_per_second(std::string_view key) const;  ///< bandwidth

  // The same, or `otherwise` if the setting has no value.
  Bytes bytes_or(std::string_view key, Bytes otherwise) const;
  std::uint64_t count_or(std::string_view key, std::uint64_t otherwise) const;
  std::string text_or(std::string_view key, std::string_view otherwise) const;

  /// For settings whose choices the schema cannot know (the list of policies): throws ConfigError, naming
  /// where the value was written and the nearest choice, unless it is one of `choices` or absent.
  void require_one_of(std::string_view key, std::span<const std::string_view> choices) const {
    require_one_of(key, choices, has(key) ? std::string_view(text(key)) : std::string_view());
  }
  /// The same where only a part of the value, `chosen`, has to be one of them.
  void require_one_of(std::string_view key, std::span<const std::string_view> choices,
                      std::string_view chosen) const;

  /// The value as one would write it, or the setting's word for "none".
  std::string written(std::string_view key) const;

  /// Every setting, in the schema's order, then the program's own options.
  std::vector<SettingReport> report() const;

 private:
  friend struct ConfigBuilder;  // src/config/builder.hpp: fills a Config from the sources

  using Value = std::variant<NoValue, std::uint64_t, double, std::string, bool>;
  struct Entry {
    Setting setting;
    Value value;
    Origin origin = Origin::default_value;
    std::string where;    // as in SettingReport
    std::string written;  // where and what was written, for messages: "--tile 0"
  };
  const Entry& entry(std::string_view key) const;
  Entry& entry(std::string_view key);
  template <class T>
  const T& value(std::string_view key, std::initializer_list<SettingType> types) const;

  std::vector<Entry> entries_;
};

/// What Config::parse() made of a command line.
struct ParsedCommandLine {
  Config config;                         ///< the settings, and the program's own options as further ones
  std::vector<std::string> positionals;  ///< as many as CommandLine::positionals allows
  bool help = false;                     ///< --help was given: positionals are not checked, show help_text()
  bool list_config = false;              ///< --config was given; only if CommandLine::config_lists
};

/// What `--help` prints for a program: usage, positionals, its own options, then the settings; at most
/// `width` columns.
std::string help_text(const CommandLine& own, unsigned width = 100);

}  // namespace fairlead
