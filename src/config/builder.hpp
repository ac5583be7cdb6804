// Fills a Config from its sources. The sources are arguments, so that tests can provide their own.
#pragma once
#include <fairlead/config.hpp>

#include <map>
#include <string>
#include <vector>

namespace fairlead {

namespace config {

using Environment = std::map<std::string, std::string, std::less<>>;

/// The environment of this process.
Environment process_environment();

struct ConfigSources {
  std::vector<std::string> arguments;  ///< without the names of the program and of the subcommand
  Environment environment;
};

/// The same as Config::parse(), from the given sources and the configuration file that they name.
ParsedCommandLine parse(const ConfigSources& sources, const CommandLine& own);

}  // namespace config

struct ConfigBuilder {
  /// Parses `text` as a value of the setting `key`, which may be a former name. If that fails, throws ConfigError with a
  /// message that starts with `written`.
  static void assign(Config& config, std::string_view key, std::string_view text, Origin origin,
                     std::string where, std::string written);
  /// Resets a setting to its default.
  static void unset(Config& config, std::string_view key);
  /// Adds a program's own options, with their defaults.
  static void add(Config& config, std::span<const Setting> options);
  /// Replaces a default that depends on the environment; `where` names the variable.
  static void assign_default(Config& config, std::string_view key, std::string_view text, std::string where);
  /// Throws UsageError if two options have the same name, or if a default or a range is invalid.
  static void check_table(std::span<const Setting> table);
};

}  // namespace fairlead
