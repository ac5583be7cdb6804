// Generates the text of --help, in columns.
#include "config/help.hpp"

#include <fairlead/config.hpp>

#include "config/schema.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace fairlead {

namespace {

constexpr std::size_t left_width = 30;
constexpr char unbreakable = '\t';  // a space where no line may be broken

std::string_view value_name(const Setting& setting) {
  if (!setting.value_name.empty()) return setting.value_name;
  switch (setting.type) {
    case SettingType::size:
      return "SIZE";
    case SettingType::count:
      return "N";
    case SettingType::real:
      return "X";
    case SettingType::text:
      return "TEXT";
    case SettingType::choice:
      return setting.choices.substr(0, setting.choices.find("|="));  // without former names, see choices_of()
    case SettingType::flag:
      return "";
    case SettingType::bandwidth:
      return "SIZE/s";
  }
  return "";
}

/// Must not be broken from its word by the end of a line.
std::string default_of(const Setting& setting) {
  if (!setting.default_shown.empty()) return fmt::format(" (default\t{})", setting.default_shown);
  const std::string_view value = setting.default_value.empty() ? setting.unset_word : setting.default_value;
  if (setting.type == SettingType::flag) return value == "true" ? " (default\tyes)" : "";
  if (value.empty()) return "";
  if (setting.default_value.empty() && !setting.unset_meaning.empty())
    return fmt::format(" (default\t{}: {})", value, setting.unset_meaning);
  return fmt::format(" (default\t{})", value);
}

// Appends "  left      words of right, wrapped and indented".
void row(std::string& out, std::string_view left, std::string_view right, unsigned width) {
  std::string line = fmt::format("  {:<{}}", left, left_width - 2);
  if (line.size() > left_width || line.back() != ' ') {
    out += line + "\n";
    line = std::string(left_width, ' ');
  }
  bool first = true;
  for (std::size_t at = 0; at < right.size();) {
    const std::size_t end = std::min(right.find(' ', at), right.size());
    const std::string_view word = right.substr(at, end - at);
    if (!first && line.size() + 1 + word.size() > width) {
      std::ranges::replace(line, unbreakable, ' ');
      out += line + "\n";
      line = std::string(left_width, ' ');
      first = true;
    }
    if (!first) line += ' ';
    line += word;
    first = false;
    at = end + 1;
  }
  std::ranges::replace(line, unbreakable, ' ');
  out += line + "\n";
}

void row(std::string& out, const config::DescribedOption& option, unsigned width) {
  const Setting& setting = option.setting;
  const std::string letter = setting.letter ? fmt::format("-{}, ", setting.letter) : std::string();
  row(out,
      fmt::format("{}--{}{} {}", letter, option.negatable ? "[no-]" : "", setting.key, option.value_name),
      option.help, width);
}

config::DescribedOption described(const Setting& setting, bool own, std::string_view help) {
  return {.setting = setting,
          .help = help.empty() ? fmt::format("{}{}", setting.help, default_of(setting)) : std::string(help),
          .value_name = std::string(value_name(setting)),
          .own = own,
          .negatable = setting.type == SettingType::flag && setting.default_value == "true"};
}

}  // namespace

std::vector<config::DescribedOption> config::options_of(const CommandLine& own) {
  std::vector<DescribedOption> options;
  for (const Setting& option : own.options) options.push_back(described(option, true, {}));
  for (const Setting& setting : schema()) {
    const auto taken = std::ranges::find(own.settings, setting.key, &AcceptedSetting::key);
    if (!own.settings.empty() && (taken == own.settings.end() || !taken->refused.empty())) continue;
    options.push_back(
        described(setting, false, taken == own.settings.end() ? std::string_view() : taken->help));
  }
  return options;
}

std::string help_text(const CommandLine& own, HelpDetail detail, unsigned width) {
  std::size_t hidden = 0;
  std::string out = fmt::format("usage: {}", own.program);
  for (const Positional& positional : own.positionals) {
    out += positional.required ? fmt::format(" {}", positional.name) : fmt::format(" [{}]", positional.name);
    if (positional.repeated) out += "...";
  }
  out += " [options]\n";
  if (!own.summary.empty()) out += fmt::format("\n{}\n", own.summary);
  if (!own.positionals.empty()) out += "\n";
  for (const Positional& positional : own.positionals) row(out, positional.name, positional.help, width);
  if (!own.options.empty()) out += "\nOptions:\n";
  std::string_view group;
  for (const config::DescribedOption& option : config::options_of(own)) {
    if (detail == HelpDetail::common && option.setting.advanced) {
      ++hidden;
      continue;
    }
    const std::string_view heading = detail == HelpDetail::all ? option.setting.group : "Settings";
    if (!option.own && heading != group) out += fmt::format("\n{}:\n", group = heading);
    row(out, option, width);
  }
  out += "\nGeneral:\n";
  if (own.config_lists)
    row(out, "--config [FILE]", "list every setting and where it came from; with FILE: as read from there",
        width);
  else
    row(out, "--config FILE",
        "read settings from this file; none: from no file (default\t~/.config/fairlead/config.toml)", width);
  row(out, "-h, --help", "show the common options", width);
  row(out, "--help-all",
      hidden == 0 ? std::string("show all options") : fmt::format("show all options: {} more", hidden),
      width);
  if (detail == HelpDetail::all)
    out +=
        "\nSizes: 4096 (bytes), 512MiB, 1.5GiB, 2G (= 2GiB), 2GB, 1e9; bandwidths: 250MB/s. Each setting "
        "can\n"
        "also be given in the file (disk-threads = 4) and the environment (FAIRLEAD_DISK_THREADS=4);\n"
        "the command line wins.\n";
  return out;
}

}  // namespace fairlead
