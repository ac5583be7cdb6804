// fairlead info: the machine as Fairlead sees it; with --config, every setting and where it came from.
#include <fmt/format.h>

#include "fairlead/subcommand.hpp"

namespace fairlead::app {

namespace {

void print_settings(const Config& config) {
  fmt::print("{:<18}{:<24}{}\n", "setting", "value", "from");
  for (const SettingReport& row : config.report()) {
    const std::string from = row.where.empty() ? std::string(name_of(row.origin))
                                               : fmt::format("{} ({})", name_of(row.origin), row.where);
    fmt::print("{:<18}{:<24}{}\n", row.setting.key, row.value, from);
  }
}

int run(const ParsedCommandLine& given) {
  if (given.list_config) print_settings(given.config);
  return success;
}

}  // namespace

const Subcommand info{
    .name = "info",
    .summary = "Shows the machine: cores, memory, disk, kernels; with --config, every setting.",
    .positionals = {},
    .options = {},
    .run = run,
    .config_lists = true};

}  // namespace fairlead::app
