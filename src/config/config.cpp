// Config: reads the settings from all sources, and provides typed getters and error messages.
#include <fairlead/config.hpp>

#include "base/suggest.hpp"
#include "config/builder.hpp"
#include "config/command_line.hpp"
#include "config/environment.hpp"
#include "config/file.hpp"
#include "config/schema.hpp"
#include "config/value.hpp"
#include "config/whole_memory.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <utility>

namespace fairlead {

std::string_view name_of(Origin origin) noexcept {
  switch (origin) {
    case Origin::default_value:
      return "default";
    case Origin::file:
      return "file";
    case Origin::environment:
      return "environment";
    case Origin::command_line:
      return "command line";
    case Origin::code:
      return "code";
  }
  return "?";
}

void ConfigBuilder::assign(Config& config, std::string_view key, std::string_view text, Origin origin,
                           std::string where, std::string written) {
  Config::Entry& entry = config.entry(key);
  const bool may_be_share = key == "memory" && entry.setting.type == SettingType::size;
  const std::optional<double> share = may_be_share ? config::parse_share(text) : std::nullopt;
  if (may_be_share && text.ends_with('%') && !share)
    throw ConfigError(fmt::format("{}: a share must be more than 0% and at most 100%", written));
  config::ParsedValue parsed_value =
      share ? config::ParsedValue{*share, {}} : config::parse_value(entry.setting, text);
  if (!parsed_value.error.empty()) throw ConfigError(fmt::format("{}: {}", written, parsed_value.error));
  entry.value = std::move(parsed_value.value);
  entry.origin = origin;
  entry.where = std::move(where);
  entry.written = std::move(written);
  entry.former_name = key == entry.setting.key ? std::string_view() : key;
}

void ConfigBuilder::unset(Config& config, std::string_view key) {
  Config::Entry& entry = config.entry(key);
  const Setting setting = entry.setting;
  entry = {.setting = setting, .value = {}, .where = {}, .written = {}, .former_name = {}};
  if (!setting.default_value.empty()) entry.value = config::parse_value(setting, setting.default_value).value;
  entry.written = fmt::format("default {} = {}", setting.key, setting.default_value);
}

void ConfigBuilder::add(Config& config, std::span<const Setting> options) {
  for (const Setting& setting : options) {
    Config::Entry entry{.setting = setting, .value = {}, .where = {}, .written = {}, .former_name = {}};
    if (!setting.default_value.empty())
      entry.value = config::parse_value(setting, setting.default_value).value;
    entry.written = fmt::format("default {} = {}", setting.key, setting.default_value);
    config.entries_.push_back(std::move(entry));
  }
}

void ConfigBuilder::assign_default(Config& config, std::string_view key, std::string_view text,
                                   std::string where) {
  std::string written = fmt::format("default {} = {}", key, text);
  assign(config, key, text, Origin::default_value, std::move(where), std::move(written));
}

void ConfigBuilder::check_table(std::span<const Setting> table) {
  for (auto row = table.begin(); row != table.end(); ++row) {
    const auto fail = [&](std::string_view what) {
      throw UsageError(fmt::format("table of options: --{}: {}", row->key, what));
    };
    for (const std::string_view text : {row->default_value, row->minimum, row->maximum})
      if (!text.empty() && !config::parse_value(*row, text).error.empty())
        fail(fmt::format("\"{}\" is not a valid {} in its range", text, name_of(row->type)));
    const auto clashes = [&](const Setting& above) {
      return above.key == row->key || (row->letter != 0 && above.letter == row->letter);
    };
    if (std::any_of(table.begin(), row, clashes) || config::current_key(row->key) != row->key)
      fail("its name or letter is taken by a setting or another option");
    if (row->key == "config" || row->key == "help" || row->key == "help-all" || row->letter == 'h')
      fail("--config, --help, --help-all and -h are taken");
    if (row->help.empty()) fail("has no help");
  }
}

Config::Config() { ConfigBuilder::add(*this, config::schema()); }

Config Config::from_environment() { return config::parse({{}, config::process_environment()}, {}).config; }

Config Config::from_args(int argc, const char* const* argv,
                         std::initializer_list<std::string_view> own_keys) {
  const std::vector<AcceptedSetting> accepted =
      config::accepted_settings({own_keys.begin(), own_keys.size()});
  const CommandLine own{.program = argc > 0 ? argv[0] : "program", .settings = accepted};
  ParsedCommandLine parsed = parse(argc, argv, own);
  if (parsed.help) throw HelpRequested(help_text(own, parsed.help_detail));
  return std::move(parsed.config);
}

ParsedCommandLine Config::parse(int argc, const char* const* argv, const CommandLine& own) {
  return config::parse({{argv + std::min(argc, 1), argv + argc}, config::process_environment()}, own);
}

namespace {

/// The default of the option as the help of this program shows it, if that is a word such as "all"; otherwise
/// empty.
std::string_view default_word(const CommandLine& own, const Setting& setting) {
  std::string_view shown = setting.default_shown;
  if (const auto taken = std::ranges::find(own.settings, setting.key, &AcceptedSetting::key);
      taken != own.settings.end() && !taken->help.empty()) {
    constexpr std::string_view before = "(default\t";
    const auto at = taken->help.find(before);
    shown = at == std::string_view::npos ? std::string_view() : taken->help.substr(at + before.size());
  }
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const std::string_view word = shown.substr(0, std::ranges::find_if_not(shown, is_letter) - shown.begin());
  const bool ends =
      word.size() == shown.size() || std::string_view(" ,:)").find(shown[word.size()]) != word.npos;
  return ends ? word : std::string_view();
}

}  // namespace

ParsedCommandLine config::parse(const ConfigSources& sources, const CommandLine& own) {
  std::vector<Setting> all(schema().begin(), schema().end());
  all.insert(all.end(), own.options.begin(), own.options.end());
  ConfigBuilder::check_table(all);
  const SplitCommandLine split = split_command_line(sources.arguments, own, schema());
  ParsedCommandLine parsed{.config = {},
                           .positionals = split.positionals,
                           .help = split.help,
                           .help_detail = split.help_detail,
                           .list_config = split.list_config && own.config_lists};
  ConfigBuilder::add(parsed.config, own.options);
  if (parsed.help) return parsed;  // --help must work even if the configuration file is invalid
  for (const GivenOption& given : split.options) require_accepted(own, given.setting->key, given.name);
  if (const auto cache = xdg_directory(sources.environment, "XDG_CACHE_HOME", ".cache"))
    ConfigBuilder::assign_default(parsed.config, "cache-directory", *cache,
                                  sources.environment.contains("XDG_CACHE_HOME") ? "XDG_CACHE_HOME" : "HOME");
  if (const auto file = locate_config_file(split.config_file, sources.environment))
    read_file(*file, parsed.config);
  read_environment(sources.environment, parsed.config);
  for (const GivenOption& given : split.options)
    if (const std::string_view word = default_word(own, *given.setting); !word.empty() && given.text == word)
      ConfigBuilder::unset(parsed.config, given.setting->key);
    else
      ConfigBuilder::assign(parsed.config, given.key, given.text, Origin::command_line, given.name,
                            given.as_written);
  return parsed;
}

void config::require_accepted(const CommandLine& own, std::string_view key, std::string_view name) {
  const bool is_setting = std::ranges::find(schema(), key, &Setting::key) != schema().end();
  if (own.settings.empty() || !is_setting) return;
  const auto found = std::ranges::find(own.settings, key, &AcceptedSetting::key);
  if (found == own.settings.end())
    throw ConfigError(
        fmt::format("`{}` does not accept {}; --help-all lists its options", own.program, name));
  if (!found->refused.empty()) throw ConfigError(fmt::format("{} {}", name, found->refused));
}

void Config::set(std::string_view key, std::string_view text, SourceLine line) {
  const std::string_view path = line.file_name();
  const std::string place = fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line.line());
  std::string written = fmt::format("{}: set(\"{}\", \"{}\")", place, key, text);
  try {
    entry(key);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: {}", place, error.what()));
  }
  ConfigBuilder::assign(*this, key, text, Origin::code, place, std::move(written));
}

void Config::set(std::string_view key, double value, SourceLine line) {
  set(key, std::string_view(fmt::format("{}", value)), line);
}

const Config::Entry& Config::entry(std::string_view key) const {
  const std::string_view current = config::current_key(key);
  const auto found = std::ranges::find_if(entries_, [&](const Entry& e) { return e.setting.key == current; });
  if (found != entries_.end()) return *found;
  std::vector<std::string_view> keys;
  for (const Entry& e : entries_) keys.push_back(e.setting.key);
  const std::string_view near = nearest(key, keys);
  throw ConfigError(fmt::format("unknown key \"{}\"{}", key,
                                near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near)));
}

Config::Entry& Config::entry(std::string_view key) {
  return const_cast<Entry&>(std::as_const(*this).entry(key));
}

template <class T>
const T& Config::value(std::string_view key, std::initializer_list<SettingType> types) const {
  const Entry& found = entry(key);
  if (std::ranges::find(types, found.setting.type) == types.end())
    throw UsageError(fmt::format("the setting \"{}\" is a {}, not a {}", key, name_of(found.setting.type),
                                 name_of(*types.begin())));
  const T* value = std::get_if<T>(&found.value);
  if (value == nullptr)
    throw UsageError(fmt::format("the setting \"{}\" has no value; check has() first", key));
  return *value;
}

bool Config::has(std::string_view key) const { return !std::holds_alternative<NoValue>(entry(key).value); }
Bytes Config::bytes(std::string_view key) const {
  const Entry& found = entry(key);
  if (found.setting.type == SettingType::size)
    if (const double* share = std::get_if<double>(&found.value))
      return std::max<Bytes>(
          static_cast<Bytes>(*share * static_cast<double>(config::total_memory_or_limit())), 1);
  return value<std::uint64_t>(key, {SettingType::size});
}
std::uint64_t Config::count(std::string_view key) const {
  return value<std::uint64_t>(key, {SettingType::count});
}
double Config::real(std::string_view key) const { return value<double>(key, {SettingType::real}); }
const std::string& Config::text(std::string_view key) const {
  return value<std::string>(key, {SettingType::text, SettingType::choice});
}
bool Config::flag(std::string_view key) const { return value<bool>(key, {SettingType::flag}); }
std::uint64_t Config::bandwidth_bytes_per_second(std::string_view key) const {
  return value<std::uint64_t>(key, {SettingType::bandwidth});
}
Bytes Config::bytes_or(std::string_view key, Bytes otherwise) const {
  return has(key) ? bytes(key) : otherwise;
}
std::uint64_t Config::count_or(std::string_view key, std::uint64_t otherwise) const {
  return has(key) ? count(key) : otherwise;
}
std::string Config::text_or(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : std::string(otherwise);
}

void Config::require_one_of(std::string_view key, std::span<const std::string_view> choices,
                            std::string_view chosen) const {
  if (!has(key)) return;
  if (std::ranges::find(choices, chosen) != choices.end()) return;
  throw ConfigError(fmt::format("{}: must be one of {}{}", entry(key).written, fmt::join(choices, ", "),
                                did_you_mean(chosen, choices)));
}

std::string Config::written(std::string_view key) const {
  const Entry& found = entry(key);
  return config::format_value(found.setting, found.value);
}

std::vector<SettingReport> Config::report() const {
  std::vector<SettingReport> rows;
  for (const Entry& e : entries_)
    rows.push_back({e.setting, config::format_value(e.setting, e.value), e.origin, e.where, e.former_name});
  return rows;
}

}  // namespace fairlead
