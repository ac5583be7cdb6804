// The only source file that includes CLI11, which splits the command line. Error messages are Fairlead's, with the
// nearest option.
#include "config/command_line.hpp"

#include <fairlead/error.hpp>

#include "base/suggest.hpp"
#include "config/schema.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

namespace fairlead::config {

namespace {

struct KnownOption {
  const Setting* setting;
  std::string_view key;  // the setting's, or a former one
  CLI::Option* option;
};

std::string spelling(const Setting& setting, std::string_view key) {
  const bool has_letter = setting.letter != 0 && key == setting.key;
  const std::string letter = has_letter ? fmt::format("-{},", setting.letter) : std::string();
  if (setting.type == SettingType::flag) return fmt::format("{}--{},!--no-{}", letter, key, key);
  return fmt::format("{}--{}", letter, key);
}

// "--memmory" for "--memmory=2GB".
std::string_view name_of_argument(std::string_view argument) {
  return argument.substr(0, argument.find('='));
}

[[noreturn]] void unknown_option(std::string_view argument, const std::vector<std::string>& names) {
  const std::string_view name = name_of_argument(argument);
  const std::string_view bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  throw ConfigError(fmt::format("unknown option {}{}", name, did_you_mean(bare, candidates, "--")));
}

// Reports an option that has consumed the next option as its value: "--memory --tile 512".
void check_values_present(const std::vector<KnownOption>& known, const std::vector<std::string>& names) {
  for (const auto& [setting, key, option] : known) {
    if (option->count() == 0 || setting->type == SettingType::flag) continue;
    const std::string& text = option->results().back();
    const bool is_option =
        text.starts_with("--") && std::ranges::find(names, name_of_argument(text).substr(2)) != names.end();
    if (is_option) throw ConfigError(fmt::format("option --{} needs a value", key));
  }
}

void check_positionals(const std::vector<std::string>& given, const CommandLine& own) {
  const bool any_number = !own.positionals.empty() && own.positionals.back().repeated;
  if (given.size() > own.positionals.size() && !any_number)
    throw ConfigError(fmt::format("unexpected argument \"{}\"", given[own.positionals.size()]));
  // Optional positionals may precede required ones.
  std::size_t required = 0;
  for (const Positional& positional : own.positionals)
    if (positional.required && ++required > given.size())
      throw ConfigError(fmt::format("missing argument {}: {}", positional.name, positional.help));
}

}  // namespace

SplitCommandLine split_command_line(const std::vector<std::string>& arguments, const CommandLine& own,
                                    std::span<const Setting> settings) {
  SplitCommandLine split;
  if (arguments.empty()) {  // as for each solver of a program: the parser below takes 0.2 ms
    check_positionals(split.positionals, own);
    return split;
  }
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<std::string> names{"config", "help", "help-all"};
  std::vector<KnownOption> known;
  const auto add = [&](const Setting& setting, std::string_view key) {
    const std::string spelled = spelling(setting, key);
    CLI::Option* option =
        setting.type == SettingType::flag ? app.add_flag(spelled) : app.add_option(spelled)->expected(1);
    option->multi_option_policy(setting.repeatable ? CLI::MultiOptionPolicy::TakeAll
                                                   : CLI::MultiOptionPolicy::TakeLast);
    known.push_back({&setting, key, option});
    names.emplace_back(key);
    if (setting.type == SettingType::flag) names.push_back(fmt::format("no-{}", key));
  };
  // Former names come first: given with the current one, the current one wins.
  for (const RenamedSetting& renamed : renamed_settings())
    if (const auto current = std::ranges::find(settings, renamed.current, &Setting::key);
        current != settings.end())
      add(*current, renamed.former);
  for (const Setting& setting : own.options) add(setting, setting.key);
  for (const Setting& setting : settings) add(setting, setting.key);
  CLI::Option* config = app.add_option("--config")->expected(own.config_lists ? 0 : 1, 1);
  config->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  CLI::Option* help = app.add_flag("-h,--help");
  CLI::Option* help_all = app.add_flag("--help-all");
  app.add_option("positionals", split.positionals);

  try {
    // CLI11 takes the arguments in reverse order.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ArgumentMismatch& error) {  // "--memory: 1 required ..."
    const std::string_view text = error.what();
    throw ConfigError(fmt::format("option {} needs a value", text.substr(0, text.find(':'))));
  } catch (const CLI::Error& error) {
    throw ConfigError(error.what());
  }
  for (const std::string& extra : app.remaining())
    if (extra != "--") unknown_option(extra, names);  // CLI11 also returns the separator "--"
  check_values_present(known, names);

  split.help = help->count() + help_all->count() > 0;
  if (help_all->count() > 0) split.help_detail = HelpDetail::all;
  split.list_config = config->count() > 0;
  if (split.list_config && !config->results().back().empty()) split.config_file = config->results().back();
  if (split.list_config && !split.config_file && !own.config_lists)
    throw ConfigError("option --config needs a value");
  if (!split.help) check_positionals(split.positionals, own);
  for (const auto& [setting, key, option] : known) {
    if (option->count() == 0) continue;
    const std::string text = setting->repeatable ? fmt::format("{}", fmt::join(option->results(), "\n"))
                                                 : option->results().back();
    std::string name = fmt::format("--{}", key), written = fmt::format("{} {}", name, text);
    if (setting->type == SettingType::flag) {
      written = fmt::format("{}={}", name, text);
      if (text == "false") name = fmt::format("--no-{}", key);
    }
    split.options.push_back({setting, key, text, std::move(name), std::move(written)});
  }
  return split;
}

}  // namespace fairlead::config
