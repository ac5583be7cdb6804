// Fills a Config from its sources, which are arguments here: tests give their own.
#pragma once
#include <fairlead/config.hpp>

#include <map>
#include <string>
#include <vector>

namespace fairlead {

namespace config {

using Environment = std::map<std::string, std::string, std::less<>>;

/// The variables of this process.
Environment process_environment();

struct Sources {
  std::vector<std::string> arguments;  ///< without the program's (and the subcommand's) name
  Environment environment;
};

/// What Config::parse() does, from the given sources alone (and the configuration file that they name).
ParsedCommandLine parse(const Sources& sources, const CommandLine& own);

}  // namespace config

struct ConfigBuilder {
  /// Reads `text` into the setting; ConfigError, beginning with `written`, if it does not fit.
  static void assign(Config& config, std::string_view key, std::string_view text, Origin origin,
                     std::string where, std::string written);
  /// As if nothing had given it.
  static void unset(Config& config, std::string_view key);
  /// Adds the options of a program, with their defaults.
  static void add(Config& config, std::span<const Setting> options);
  /// Replaces a default that depends on the environment; `where` says on what.
  static void assign_default(Config& config, std::string_view key, std::string_view text, std::string where);
  /// Throws UsageError unless the table is sound: names differ, defaults and ranges can be read.
  static void check_table(std::span<const Setting> table);
};

}  // namespace fairlead
