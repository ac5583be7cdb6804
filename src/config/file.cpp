// See file.hpp.
#include "config/file.hpp"

#include "base/file_descriptor.hpp"
#include "base/suggest.hpp"
#include "config/schema.hpp"
#include "config/toml.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace fairlead::config {

namespace {

std::string contents_of(const ConfigFile& file) {
  const auto fail = [&](const std::string& why) {
    const std::string prefix = file.source.empty() ? std::string() : file.source + ": ";
    throw ConfigError(fmt::format("{}cannot read {}: {}", prefix, file.path, why));
  };
  auto text = fairlead::read_file(file.path);
  if (!text) fail(errno == EISDIR ? "it is a directory" : std::generic_category().message(errno));
  return *std::move(text);
}

struct Written {
  std::string text;   // as a value on the command line
  std::string shown;  // as written in the file
};

// Values must have the TOML type of their setting: workers = "4" is an error, memory = "2GB" is not. The word for "no
// value" is a string for every type.
Written read_node(const Setting& setting, const TomlNode& node, const std::string& place) {
  const auto mistake = [&](std::string_view shown, std::string_view wanted, std::string_view got) -> Written {
    throw ConfigError(fmt::format("{}: {} = {}: must be {}, not {}", place, setting.key, shown, wanted, got));
  };
  if (const auto* text = node.as<std::string>()) {
    const std::string& value = *text;
    const std::string shown = fmt::format("\"{}\"", value);
    if (setting.unset_word.empty() || value != setting.unset_word) {
      if (setting.type == SettingType::count) return mistake(shown, "a whole number", "a string");
      if (setting.type == SettingType::real) return mistake(shown, "a number", "a string");
      if (setting.type == SettingType::flag) return mistake(shown, "true or false", "a string");
    }
    return {value, shown};
  }
  const bool numeric = setting.type == SettingType::count || setting.type == SettingType::size ||
                       setting.type == SettingType::real;
  if (const auto* number = node.as<std::int64_t>()) {
    const std::string shown = fmt::format("{}", *number);
    if (numeric) return {shown, shown};
    if (setting.type == SettingType::bandwidth)
      return mistake(shown, "a string such as \"250MB/s\"", "a number");
    return mistake(shown, setting.type == SettingType::flag ? "true or false" : "a string", "a number");
  }
  if (const auto* number = node.as<double>()) {
    const std::string shown = fmt::format("{}", *number);
    if (numeric) return {shown, shown};
    return mistake(shown, setting.type == SettingType::flag ? "true or false" : "a string", "a number");
  }
  if (const auto* truth = node.as<bool>()) {
    const std::string shown = *truth ? "true" : "false";
    if (setting.type == SettingType::flag) return {shown, shown};
    return mistake(shown, numeric ? "a number" : "a string", "true or false");
  }
  return mistake("...", "a single value", "a list, a table or a date");
}

}  // namespace

std::optional<std::string> xdg_directory(const Environment& environment, std::string_view variable,
                                         std::string_view otherwise) {
  const auto set = environment.find(variable);
  if (set != environment.end() && set->second.starts_with('/')) return set->second + "/fairlead";
  const auto home = environment.find("HOME");
  if (home == environment.end() || !home->second.starts_with('/')) return {};
  return fmt::format("{}/{}/fairlead", home->second, otherwise);
}

std::optional<ConfigFile> locate_config_file(const std::optional<std::string>& option,
                                             const Environment& environment) {
  const auto named = [](const std::string& path, std::string_view by) -> std::optional<ConfigFile> {
    if (path == "none") return {};
    return ConfigFile{path, std::string(by)};
  };
  if (option) return named(*option, "--config");
  const auto variable = environment.find("FAIRLEAD_CONFIG");
  if (variable != environment.end()) return named(variable->second, "FAIRLEAD_CONFIG");
  const auto directory = xdg_directory(environment, "XDG_CONFIG_HOME", ".config");
  std::error_code ignored;
  if (!directory || !std::filesystem::exists(*directory + "/config.toml", ignored)) return {};
  return ConfigFile{*directory + "/config.toml", {}};
}

void read_file(const ConfigFile& file, Config& config) {
  const std::string text = contents_of(file);
  const TomlNode table = parse_toml(text, file.path);
  std::vector<std::string_view> keys;
  for (const Setting& setting : schema()) keys.push_back(setting.key);
  for (const auto& [key, node] : *table.as<TomlNode::Table>()) {
    const std::string place = fmt::format("{}:{}", file.path, node.line);
    const auto known = std::ranges::find(schema(), current_key(key), &Setting::key);
    if (known == schema().end()) {
      if (node.as<TomlNode::Table>() != nullptr)
        throw ConfigError(
            fmt::format("{}: unknown table [{}]; settings are written without tables, as in disk-threads = 4",
                        place, key));
      const std::string near{nearest(key, keys)};
      throw ConfigError(fmt::format("{}: unknown key \"{}\"{}", place, key,
                                    near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near)));
    }
    const Written written = read_node(*known, node, place);
    ConfigBuilder::assign(config, key, written.text, Origin::file, place,
                          fmt::format("{}: {} = {}", place, key, written.shown));
  }
}

}  // namespace fairlead::config
